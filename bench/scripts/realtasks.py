#!/usr/bin/env python3
"""Tune scikit-learn models on its bundled data by lbotune, Optuna's TPE, at random or by a peer.

    scripts/realtasks.py --peer lbotune --group judging --mode rounds > lbotune.jsonl
    scripts/realtasks.py --peer tpe     --group judging --mode rounds > tpe.jsonl
    scripts/realtasks.py --peer "turbo=/usr/bin/python3 scripts/model-peer.py turbo" > turbo.jsonl
    scripts/realtasks.py --compare lbotune.jsonl tpe.jsonl turbo.jsonl

Needs numpy, scikit-learn and Optuna: on Debian 12, apt install python3-sklearn
python3-optuna, and a lbotune in the PATH. A peer is a program that speaks as
scripts/optuna-peer.py does. One process uses one core. Every line of the output is one
study: the best loss after each of its trials.
"""
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOMAXPROCS"):
    os.environ[name] = "1"

import argparse, heapq, json, math, random, subprocess, sys, tempfile, warnings

warnings.filterwarnings("ignore")
sys.dont_write_bytecode = True
import numpy as np
from severaltasks import Peer
from sklearn import datasets, metrics
from sklearn.decomposition import PCA
from sklearn.ensemble import (AdaBoostClassifier, ExtraTreesClassifier, GradientBoostingRegressor,
                              RandomForestClassifier)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, LogisticRegression, SGDClassifier
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

# ---- the tasks -------------------------------------------------------------------------

loaded = {}


def data(name):
    """240 examples at most, in two folds."""
    if name not in loaded:
        x, y = getattr(datasets, "load_" + name)(return_X_y=True)
        some = np.random.RandomState(0).permutation(len(x))[:240]
        x, y = x[some], y[some]
        if name == "diabetes":
            y = (y - y.mean()) / y.std()
            folds = KFold(2, shuffle=True, random_state=1).split(x)
        else:
            folds = StratifiedKFold(2, shuffle=True, random_state=1).split(x, y)
        loaded[name] = x, y, list(folds)
    return loaded[name]


def loss(name, make, what="errors"):
    """The model's cross-validated loss: its share of errors, squares or logarithms."""
    x, y, folds = data(name)
    total = 0.0
    for train, test in folds:
        m = make().fit(x[train], y[train])
        if what == "errors":
            total += np.sum(m.predict(x[test]) != y[test])
        elif what == "squares":
            total += np.sum((m.predict(x[test]) - y[test]) ** 2)
        else:
            total += len(test) * metrics.log_loss(y[test], m.predict_proba(x[test]), labels=m.classes_)
    v = float(total / len(y))
    return v if v < 1e6 else 1e6


def scaled(model):
    return make_pipeline(StandardScaler(), model)


def tree(name):
    return lambda p: loss(name, lambda: DecisionTreeClassifier(
        max_depth=p["depth"], min_samples_leaf=p["leaf"], min_samples_split=p["split"], criterion=p["crit"],
        ccp_alpha=p["ccp"], max_features=p["mf"], random_state=0))


def mlp(name, what):
    return lambda p: loss(name, lambda: scaled(MLPClassifier(
        (p["h"],), activation=p["act"], alpha=p["alpha"], learning_rate_init=p["lr"], batch_size=p["bs"],
        max_iter=8, random_state=0)), what)


def knn(p):
    scale = {"std": StandardScaler, "minmax": MinMaxScaler, "l2": Normalizer}[p["scale"]]
    return loss("wine", lambda: make_pipeline(scale(), PCA(p["pca"], random_state=0),
                                              KNeighborsClassifier(p["k"], weights=p["w"], p=p["p"])))


def real(name, low, high, log=False, when=None):
    return dict(name=name, type="float", min=low, max=high, log=log, when=when)


def whole(name, low, high, log=False, when=None):
    return dict(name=name, type="int", min=low, max=high, log=log, when=when)


def choice(name, *values, when=None):
    return dict(name=name, type="choice", choices=list(values), when=when)


TREE = [whole("depth", 1, 20), whole("leaf", 1, 50, True), whole("split", 2, 60, True),
        choice("crit", "gini", "entropy"), real("ccp", 1e-5, 0.1, True), real("mf", 0.1, 1.0)]
MLP = [real("lr", 1e-5, 1.0, True), whole("h", 2, 64, True), real("alpha", 1e-7, 10.0, True),
       choice("act", "relu", "tanh", "logistic"), whole("bs", 8, 128, True)]
SVM = [real("C", 1e-4, 1e4, True), real("gamma", 1e-7, 10.0, True)]

DEVELOPING = {
    "svc_wine": (lambda p: loss("wine", lambda: SVC(C=p["C"], gamma=p["gamma"])), SVM),
    "knn_digits": (lambda p: loss("digits", lambda: make_pipeline(PCA(p["pca"], random_state=0), KNeighborsClassifier(
        p["k"], weights=p["w"], metric=p["m"], algorithm="brute"))),
        [whole("k", 1, 60, True), choice("w", "uniform", "distance"),
         choice("m", "euclidean", "manhattan", "chebyshev", "cosine"), whole("pca", 1, 40, True)]),
    "tree_bc": (tree("breast_cancer"), TREE),
    "enet": (lambda p: loss("diabetes", lambda: scaled(ElasticNet(
        alpha=p["alpha"], l1_ratio=p["l1"], max_iter=300)), "squares"),
        [real("alpha", 1e-4, 10.0, True), real("l1", 0.01, 1.0)]),
    "rf_wine": (lambda p: loss("wine", lambda: RandomForestClassifier(
        p["n"], max_depth=p["depth"], max_features=p["mf"], min_samples_leaf=p["leaf"], random_state=0)),
        [whole("n", 2, 9), whole("depth", 1, 12), real("mf", 0.05, 1.0), whole("leaf", 1, 30, True)]),
    "gbm": (lambda p: loss("diabetes", lambda: GradientBoostingRegressor(
        learning_rate=p["lr"], n_estimators=p["n"], max_depth=p["depth"], subsample=p["sub"], random_state=0), "squares"),
        [real("lr", 0.005, 1.0, True), whole("n", 3, 30, True), whole("depth", 1, 5), real("sub", 0.2, 1.0)]),
    "mlp_iris": (mlp("iris", "errors"), MLP),
    "svck": (lambda p: loss("digits", lambda: SVC(
        C=p["C"], kernel=p["kernel"], gamma=p.get("gamma", "scale"), degree=p.get("degree", 3), coef0=p.get("coef0", 0.0))),
        [choice("kernel", "linear", "rbf", "poly", "sigmoid"), real("C", 1e-4, 1e4, True),
         real("gamma", 1e-7, 10.0, True, when="kernel != 'linear'"), whole("degree", 2, 5, when="kernel == 'poly'"),
         real("coef0", -5.0, 5.0, when="kernel == 'poly' or kernel == 'sigmoid'")]),
}

JUDGING = {
    "svc_bc": (lambda p: loss("breast_cancer", lambda: scaled(SVC(C=p["C"], gamma=p["gamma"]))), SVM),
    "logreg": (lambda p: loss("digits", lambda: LogisticRegression(
        C=p["C"], max_iter=p["it"], fit_intercept=p["b"] == "yes", class_weight=None if p["cw"] == "none" else "balanced"), "logs"),
        [real("C", 1e-6, 1e3, True), whole("it", 2, 25), choice("b", "yes", "no"), choice("cw", "none", "balanced")]),
    "sgd": (lambda p: loss("breast_cancer", lambda: scaled(SGDClassifier(
        loss=p["loss"], alpha=p["alpha"], penalty=p["pen"], l1_ratio=p.get("l1", 0.15), learning_rate=p["sched"],
        eta0=p.get("eta0", 0.01), max_iter=20, tol=None, random_state=0))),
        [choice("loss", "hinge", "log_loss", "modified_huber"), real("alpha", 1e-7, 10.0, True),
         choice("pen", "l2", "l1", "elasticnet"), real("l1", 0.0, 1.0, when="pen == 'elasticnet'"),
         choice("sched", "optimal", "constant", "adaptive"), real("eta0", 1e-6, 10.0, True, when="sched != 'optimal'")]),
    "et_digits": (lambda p: loss("digits", lambda: ExtraTreesClassifier(
        p["n"], max_depth=p["depth"], max_features=p["mf"], min_samples_split=p["split"], random_state=0)),
        [whole("n", 2, 9), whole("depth", 1, 15), real("mf", 0.02, 1.0), whole("split", 2, 40, True)]),
    "kr": (lambda p: loss("diabetes", lambda: scaled(KernelRidge(
        alpha=p["alpha"], kernel=p["kernel"], gamma=p["gamma"], degree=p.get("degree", 3))), "squares"),
        [real("alpha", 1e-5, 1e3, True), choice("kernel", "rbf", "laplacian", "poly"), real("gamma", 1e-6, 1.0, True),
         whole("degree", 1, 4, when="kernel == 'poly'")]),
    "tree_digits": (tree("digits"), TREE),
    "ada": (lambda p: loss("breast_cancer", lambda: AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=p["depth"], random_state=0), n_estimators=p["n"], learning_rate=p["lr"], random_state=0)),
        [real("lr", 1e-3, 10.0, True), whole("n", 2, 9), whole("depth", 1, 4)]),
    "knn_wine": (knn, [choice("scale", "std", "minmax", "l2"), whole("pca", 1, 13), whole("k", 1, 50, True),
                       choice("w", "uniform", "distance"), real("p", 1.0, 5.0)]),
    "mlp_wine": (mlp("wine", "logs"), MLP),
    "svr": (lambda p: loss("diabetes", lambda: scaled(SVR(
        C=p["C"], gamma=p["gamma"], epsilon=p["eps"], max_iter=2000)), "squares"),
        [real("C", 1e-4, 1e3, True), real("gamma", 1e-6, 10.0, True), real("eps", 1e-4, 2.0, True)]),
}

# ---- the peers: each has ask, which returns a handle and values, and tell -----------------


class Lbotune:
    def __init__(self, params, seed, trials, _):
        self.dir = tempfile.TemporaryDirectory()
        spec = 'command = "none ' + " ".join("{%s}" % p["name"] for p in params) + '"\n'
        spec += 'seed = %d\nobjective.metric = "loss"\nbudget.trials = %d\n' % (seed, trials)
        for p in params:
            spec += "[params.%s]\ntype = %s\n" % (p["name"], json.dumps(p["type"]))
            for key in ("min", "max", "choices", "when"):
                if p.get(key) is not None:
                    spec += "%s = %s\n" % (key, json.dumps(p[key]))
            if p.get("log"):
                spec += 'scale = "log"\n'
        with open(self.dir.name + "/task.toml", "w") as f:
            f.write(spec)
        self.pipe = subprocess.Popen(["lbotune", "drive", "task.toml"], cwd=self.dir.name, text=True, bufsize=1,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def do(self, **request):
        print(json.dumps(request), file=self.pipe.stdin, flush=True)
        answer = json.loads(self.pipe.stdout.readline())
        if "error" in answer:
            sys.exit(answer["error"])
        return answer

    def ask(self):
        a = self.do(do="ask")
        return a.get("trial"), a.get("params")

    def tell(self, trial, value):
        self.do(do="tell", trial=trial, value=value)

    def close(self):
        self.pipe.stdin.close()
        self.pipe.wait()
        self.dir.cleanup()


class Optuna:
    def __init__(self, params, seed, _, mode):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.params = params
        self.study = optuna.create_study(sampler=self.sampler(optuna.samplers, seed, mode))

    def sampler(self, samplers, seed, mode):
        return samplers.TPESampler(seed=seed, multivariate=True, group=any(p["when"] for p in self.params),
                                   constant_liar=mode != "single")

    def ask(self):
        t, values = self.study.ask(), {}
        for p in self.params:
            n = p["name"]
            if p["when"] and not eval(p["when"], {}, dict(values)):
                continue
            if p["type"] == "choice":
                values[n] = t.suggest_categorical(n, p["choices"])
            else:
                suggest = t.suggest_int if p["type"] == "int" else t.suggest_float
                values[n] = suggest(n, p["min"], p["max"], log=p["log"])
        return t, values

    def tell(self, trial, value):
        self.study.tell(trial, value)

    def close(self):
        pass


class Random(Optuna):
    def sampler(self, samplers, seed, mode):
        return samplers.RandomSampler(seed=seed)


class Other:
    """A peer of severaltasks.py, told of the parameters in lbobench's words."""

    def __init__(self, command, params, seed):
        kinds = [dict(p, kind=p["type"], scale="log" if p.get("log") else "") for p in params]
        kinds = [{k: v for k, v in p.items() if v is not None and k not in ("type", "log")} for p in kinds]
        self.peer, self.asked = Peer(command, kinds, seed, 1, 0), 0

    def ask(self):
        self.asked += 1
        return self.asked, self.peer.ask(self.asked)

    def tell(self, trial, value):
        self.peer.tell(trial, [value], [])

    def close(self):
        self.peer.close()


PEERS = {"lbotune": Lbotune, "tpe": Optuna, "random": Random}


def study(peer, task, seed, mode, trials):
    """The best loss after each trial. Trials that run beside others end in random order."""
    f, params = task
    name, _, command = peer.partition("=")
    p = Other(command, params, seed) if command else PEERS[name](params, seed, trials, mode)
    rng = random.Random(seed)
    width = 1 if mode == "single" else 8
    running, best, asked, clock = [], [], 0, 0.0
    while len(best) < trials:
        while len(running) < width and asked < trials:
            trial, values = p.ask()
            if values is None:
                break
            asked += 1
            heapq.heappush(running, (clock + 0.5 + rng.expovariate(1) if mode == "workers" else asked, asked, trial, values))
        if not running:
            break
        for _ in range(len(running) if mode == "rounds" else 1):
            end, _, trial, values = heapq.heappop(running)
            clock = end if mode == "workers" else 0.0
            v = f(values)
            p.tell(trial, v)
            best.append(min(v, best[-1] if best else math.inf))
    p.close()
    return best + best[-1:] * (trials - len(best))


def compare(files):
    """Print means over studies: 100 is the best loss in any of the files, 0 the median of
    101 random trials."""
    runs = {}
    for name in files:
        with open(name) as f:
            for line in f:
                r = json.loads(line)
                runs.setdefault(r["peer"], {})[r["task"], r["seed"]] = r["best"]
    common = sorted(set.intersection(*map(set, runs.values())))
    top, zero = {}, {}
    for task in {t for t, _ in common}:
        top[task] = min(rs[k][-1] for rs in runs.values() for k in rs if k[0] == task)
        f, params = {**DEVELOPING, **JUDGING}[task]
        draws = Random(params, 12345, 101, "single")
        zero[task] = np.median([f(draws.ask()[1]) for _ in range(101)])

    def score(run, key, n):
        return 100 * (zero[key[0]] - run[key][n - 1]) / (zero[key[0]] - top[key[0]])

    ends = [n for n in (16, 32, 64, 128) if n <= min(len(rs[k]) for rs in runs.values() for k in common)]
    first = next(iter(runs))
    print("%d studies of %d tasks; in brackets the studies in which %s is better, alike and worse, and by how much "
          "in the mean: 95 %% of a bootstrap over tasks and their seeds" % (len(common), len(top), first))
    seeds = {t: [k for k in common if k[0] == t] for t in sorted(top)}
    rng = random.Random(1)
    draws = [[k for t in rng.choices(list(seeds), k=len(seeds)) for k in rng.choices(seeds[t], k=len(seeds[t]))] for _ in range(1000)]
    for peer, rs in runs.items():
        row = []
        for n in ends:
            signs = [np.sign(score(runs[first], k, n) - score(rs, k, n)) for k in common]
            lead = {k: score(runs[first], k, n) - score(rs, k, n) for k in common}
            means = sorted(np.mean([lead[k] for k in d]) for d in draws)
            row.append("@%d %.1f (%d-%d-%d, %.1f to %.1f)" % (n, np.mean([score(rs, k, n) for k in common]), signs.count(1),
                                                             signs.count(0), signs.count(-1), means[25], means[974]))
        print("%-8s" % peer, "  ".join(row))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--peer", default="lbotune", metavar="NAME[=COMMAND]", help="lbotune, tpe, random, or what to run")
    a.add_argument("--group", choices=["developing", "judging"], default="judging")
    a.add_argument("--mode", choices=["rounds", "workers", "single"], default="rounds",
                   help="16 rounds of 8, 8 workers of unequal speed, or one trial after the other")
    a.add_argument("--tasks", help="some of them, separated by commas")
    a.add_argument("--seeds", type=int, default=3)
    a.add_argument("--first-seed", type=int, default=0)
    a.add_argument("--trials", type=int, default=128)
    a.add_argument("--compare", nargs="+", metavar="FILE", help="print the means of files made before")
    a = a.parse_args()
    if a.compare:
        return compare(a.compare)
    if "=" not in a.peer and a.peer not in PEERS:
        a.error("--peer %s: want NAME=COMMAND, or one of %s" % (a.peer, ", ".join(PEERS)))
    tasks = DEVELOPING if a.group == "developing" else JUDGING
    for seed in range(a.first_seed, a.first_seed + a.seeds):
        for name in sorted(tasks):
            if not a.tasks or name in a.tasks.split(","):
                best = study(a.peer, tasks[name], seed, a.mode, a.trials)
                print(json.dumps(dict(peer=a.peer.partition("=")[0], mode=a.mode, task=name, seed=seed, best=best)), flush=True)


if __name__ == "__main__":
    main()
