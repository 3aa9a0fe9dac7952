#!/usr/bin/env python3
"""Two objectives of real programs, and COCO's bbob-constrained, by lbotune beside others.

    peer="/usr/bin/python3 scripts/optuna-peer.py"
    scripts/severaltasks.py --out fronts.jsonl --seeds 10
    scripts/severaltasks.py --out fronts.jsonl --seeds 10 --peer "tpe=$peer tpe"
    scripts/severaltasks.py --out fronts.jsonl --compare

    git clone https://github.com/numbbo/coco-experiment
    scripts/severaltasks.py --coco coco-experiment --out coco.jsonl
    scripts/severaltasks.py --coco coco-experiment --out coco.jsonl --peer "tpe=$peer tpe"
    scripts/severaltasks.py --out coco.jsonl --compare

Needs scikit-learn (apt install python3-sklearn) for the former, a C compiler for the latter,
and a lbotune in the PATH. A peer is a program that speaks as scripts/optuna-peer.py does. One
process uses one core. Every line of the output is one study; those that are there are not
repeated. All are told of the values alone, not of the reference point.
"""
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOMAXPROCS"):
    os.environ[name] = "1"

import argparse, ctypes, json, math, re, statistics, subprocess, sys, tempfile, zlib


def real(name, low, high, scale=""):
    return dict(name=name, kind="float", min=low, max=high, scale=scale)


def whole(name, low, high, scale=""):
    return dict(name=name, kind="int", min=low, max=high, scale=scale)


def choice(name, *values):
    return dict(name=name, kind="choice", choices=list(values))


# ---- two objectives: the program, its parameters, and the point that the volume is below ----


def boosting(p):
    """Squared error of boosted trees on diabetes, of which guessing has 1; and their leaves."""
    from sklearn.ensemble import GradientBoostingRegressor
    x, y, folds = data("diabetes")
    err = leaves = 0
    for train, test in folds:
        m = GradientBoostingRegressor(
            learning_rate=p["rate"], n_estimators=p["trees"], max_leaf_nodes=p["leaves"], max_depth=None,
            min_samples_leaf=p["least"], subsample=p["rows"], max_features=p["columns"], random_state=0).fit(x[train], y[train])
        err += ((m.predict(x[test]) - y[test]) ** 2).sum() / len(y)
        leaves += sum(t[0].get_n_leaves() for t in m.estimators_)
    return [float(err), leaves / len(folds)]


def vectors(p):
    """Share of errors of a support vector machine on digits; and the logarithm to base 2 of
    the multiplications for one answer: dimensions times support vectors."""
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import NuSVC
    x, y, folds = data("digits")
    wrong = work = 0
    for train, test in folds:
        m = make_pipeline(PCA(p["dimensions"], random_state=0), NuSVC(
            nu=p["nu"], gamma=p["gamma"], kernel=p["kernel"], coef0=p["coef0"], degree=2)).fit(x[train], y[train])
        wrong += int((m.predict(x[test]) != y[test]).sum())
        work += p["dimensions"] * len(m[-1].support_) / len(folds)
    return [wrong / len(y), math.log2(work)]


def deflate(p):
    """Bytes to which zlib compresses a table of numbers; and the bytes of memory that its
    zconf.h says it takes for that."""
    c = zlib.compressobj(p["level"], zlib.DEFLATED, -p["window"], p["memory"], dict(
        default=zlib.Z_DEFAULT_STRATEGY, filtered=zlib.Z_FILTERED, huffman=zlib.Z_HUFFMAN_ONLY,
        rle=zlib.Z_RLE, fixed=zlib.Z_FIXED)[p["strategy"]])
    return [len(c.compress(table()[p["order"]]) + c.flush()), (1 << (p["window"] + 2)) + (1 << (p["memory"] + 9))]


loaded = {}


def data(name):
    """The examples, 400 at most, in two folds."""
    if name not in loaded:
        import numpy
        from sklearn import datasets
        from sklearn.model_selection import KFold
        x, y = getattr(datasets, "load_" + name)(return_X_y=True)
        some = numpy.random.RandomState(0).permutation(len(x))[:400]
        x, y = x[some], y[some]
        if name == "diabetes":
            y = (y - y.mean()) / y.std()
        loaded[name] = x, y, list(KFold(2, shuffle=True, random_state=1).split(x))
    return loaded[name]


def table():
    """The breast cancer data as text, by rows and by columns."""
    if "table" not in loaded:
        from sklearn import datasets
        x = datasets.load_breast_cancer().data
        loaded["table"] = {order: "".join(" ".join("%g" % v for v in r) + "\n" for r in rows).encode()
                           for order, rows in (("rows", x), ("columns", x.T))}
    return loaded["table"]


FRONTS = {
    "boosting": (boosting, [1.0, 500.0], [
        real("rate", 0.01, 1, "log"), whole("trees", 1, 100, "log"), whole("leaves", 2, 32, "log"),
        whole("least", 1, 50, "log"), real("rows", 0.2, 1), real("columns", 0.1, 1)]),
    "vectors": (vectors, [0.9, 14.0], [
        whole("dimensions", 2, 64, "log"), real("nu", 0.001, 0.6, "log"), real("gamma", 1e-6, 1e-1, "log"),
        choice("kernel", "linear", "rbf", "poly"), real("coef0", 0, 10)]),
    "deflate": (deflate, [70000.0, 393216.0], [
        whole("level", 1, 9), whole("window", 9, 15), whole("memory", 1, 9),
        choice("strategy", "default", "filtered", "huffman", "rle", "fixed"), choice("order", "rows", "columns")]),
}

# ---- limits: COCO's ----------------------------------------------------------------------


class Coco:
    """A suite of a checkout of numbbo/coco-experiment."""

    def __init__(self, checkout, suite="bbob-constrained", instances=""):
        seen = set()

        def text(path):  # the sources include each other, each of which may be there only once
            if path in seen:
                return ""
            seen.add(path)
            with open(path) as f:
                return re.sub(r'^#include "(.*)"', lambda m: text(os.path.join(os.path.dirname(path), m[1])), f.read(), flags=re.M)

        with tempfile.TemporaryDirectory() as made:
            with open(made + "/coco.c", "w") as f:
                for name in ("random", "suite", "observer", "archive", "runtime_c"):
                    f.write(text(os.path.join(checkout, "src/coco_%s.c" % name)))
                f.write('\nconst char *coco_version = "";\n')
            subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", made + "/coco.c", "-o", made + "/coco.so", "-lm"], check=True)
            self.lib = ctypes.CDLL(made + "/coco.so")
        for name in ("coco_suite", "coco_suite_get_problem_by_function_dimension_instance"):
            getattr(self.lib, name).restype = ctypes.c_void_p
        self.lib.coco_problem_get_number_of_constraints.restype = ctypes.c_size_t
        self.lib.coco_set_log_level(b"warning")
        self.suite = ctypes.c_void_p(self.lib.coco_suite(suite.encode(), instances.encode(), b""))

    def problem(self, function, d, instance):
        return ctypes.c_void_p(self.lib.coco_suite_get_problem_by_function_dimension_instance(
            self.suite, ctypes.c_size_t(function), ctypes.c_size_t(d), ctypes.c_size_t(instance)))

    def task(self, function, d):
        """The value above the best, the limits (broken above 0) and the parameters of a problem."""
        problem = self.problem(function, d, 1)
        limits = self.lib.coco_problem_get_number_of_constraints(problem)
        names = ["x%d" % (i + 1) for i in range(d)]

        def evaluate(x):
            y, g = ctypes.c_double(), (ctypes.c_double * limits)()
            self.lib.coco_evaluate_function(problem, x, ctypes.byref(y))
            self.lib.coco_evaluate_constraint(problem, x, g)
            return y.value, list(g)

        x = (ctypes.c_double * d)()
        self.lib.coco_problem_get_best_parameter(problem, x)
        best, g = evaluate(x)
        if max(g) > 1e-6:
            sys.exit("f%d in %d dimensions: the best solution breaks a limit by %g" % (function, d, max(g)))

        def f(p):
            y, g = evaluate((ctypes.c_double * d)(*(p[n] for n in names)))
            return [y - best], g

        return f, limits, [real(n, -5, 5) for n in names]


# ---- who proposes ------------------------------------------------------------------------


class Lbotune:
    """lbotune by its drive, which is what a program that runs its trials itself would use."""

    def __init__(self, params, seed, trials, objectives, limits):
        self.dir = tempfile.TemporaryDirectory()
        spec = 'command = "none ' + " ".join("{%s}" % p["name"] for p in params) + '"\nseed = %d\nbudget.trials = %d\n' % (seed, trials)
        if objectives == 1:
            spec += '[objective]\nmetric = "o1"\n'
        for i in range(objectives * (objectives > 1)):
            spec += '[objectives.o%d]\ndirection = "minimize"\n' % (i + 1)
        for i in range(limits):
            spec += "[constraints.g%d]\nmax = 0\n" % (i + 1)
        for p in params:
            spec += "[params.%s]\ntype = %s\n" % (p["name"], json.dumps(p["kind"]))
            for key in ("min", "max", "choices", "scale", "when"):
                if p.get(key) not in (None, ""):
                    spec += "%s = %s\n" % (key, json.dumps(p[key]))
        with open(self.dir.name + "/task.toml", "w") as f:
            f.write(spec)
        self.pipe = subprocess.Popen(["lbotune", "drive", "task.toml"], cwd=self.dir.name, text=True, bufsize=1,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def do(self, **request):
        print(json.dumps(request), file=self.pipe.stdin, flush=True)
        answer = json.loads(self.pipe.stdout.readline() or '{"error": "lbotune has ended"}')
        if "error" in answer:
            sys.exit(answer["error"])
        return answer

    def ask(self, _):
        return self.do(do="ask").get("params")  # none once the space is exhausted

    def tell(self, trial, values, limits):
        metrics = {"o%d" % (i + 1): v for i, v in enumerate(values)}
        metrics.update({"g%d" % (i + 1): v for i, v in enumerate(limits)})
        if self.do(do="tell", trial=trial, value=metrics.pop("o1"), metrics=metrics)["status"] != "succeeded":
            sys.exit("lbotune does not take the values of trial %d" % trial)

    def close(self):
        self.pipe.stdin.close()
        self.pipe.wait()
        self.dir.cleanup()


class Peer:
    def __init__(self, command, params, seed, objectives, limits):
        self.pipe = subprocess.Popen(command, shell=True, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.say(params=params, seed=seed, objectives=objectives, constraints=limits)

    def say(self, **message):
        print(json.dumps(message), file=self.pipe.stdin, flush=True)

    def ask(self, trial):
        self.say(ask=trial)
        return json.loads(self.pipe.stdout.readline() or sys.exit("the peer has ended"))

    def tell(self, trial, values, limits):
        self.say(tell=trial, values=values, constraints=limits)

    def close(self):
        self.pipe.stdin.close()
        self.pipe.wait()


def study(command, task, limited, seed, trials):
    """The values of each trial, or null if it breaks a limit."""
    f, more, params = task
    limits, objectives, out = (more, 1, []) if limited else (0, len(more), [])
    p = Peer(command, params, seed, objectives, limits) if command else Lbotune(params, seed, trials, objectives, limits)
    for trial in range(1, trials + 1):
        asked = p.ask(trial)
        if asked is None:
            break
        values, g = f(asked) if limited else (f(asked), [])
        p.tell(trial, values, g)
        out.append(values if not g or max(g) <= 0 else None)
    p.close()
    return out


# ---- comparing ---------------------------------------------------------------------------


def volume(points, reference):
    """The area below the reference point that the points dominate."""
    area, low = 0.0, reference[1]
    for a, b in sorted(points):
        if a < reference[0] and b < low:
            area += (reference[0] - a) * (low - b)
            low = b
    return area


def compare(runs):
    """Medians over the seeds: of two objectives the percentage of the volume of all studies
    together that is not dominated; under limits the first trial that holds them, and how far
    the best of these is from the best."""
    peers = sorted({p for p, _, _ in runs}, key=lambda p: (p != "lbotune", p))
    tasks = sorted({t for _, t, _ in runs}, key=lambda t: ([int(n) for n in re.findall(r"\d+", t)], t))
    ends, ranks, tally = (50, 100), {}, {}

    def result(trials, task, n):
        if task not in FRONTS:
            return min((v[0] for v in trials[:n] if v), default=math.inf)
        union = [v for (_, t, _), r in runs.items() if t == task for v in r]
        return 100 * (1 - volume(trials[:n], FRONTS[task][1]) / volume(union, FRONTS[task][1]))

    def alike(a, b):
        return a == b or abs(a - b) <= (1e-8 if task not in FRONTS else 0.01)

    def number(v):
        return "none" if v == math.inf else "%.*g" % (2 if v < 1 else 3, max(v, 0))

    print("| task |", " | ".join(peers), "|\n|", " | ".join(["---"] * (len(peers) + 1)), "|")
    for task in tasks:
        seeds = sorted(set.intersection(*({s for q, t, s in runs if (q, t) == (p, task)} for p in peers)))
        if not seeds:
            continue
        row, medians = [], {}
        for p in peers:
            of = [runs[p, task, s] for s in seeds]
            cell = []
            if task not in FRONTS:
                cell.append(number(statistics.median([next((i + 1 for i, v in enumerate(r) if v), math.inf) for r in of])))
            for n in ends:
                rs = [result(r, task, n) for r in of]
                medians[p, n] = statistics.median(rs)
                cell.append(number(medians[p, n]))
                signs = tally.setdefault((p, n), [0, 0, 0])
                for s, theirs in zip(seeds, rs):
                    ours = result(runs[peers[0], task, s], task, n)
                    signs[1 if alike(ours, theirs) else 0 if ours < theirs else 2] += 1
            row.append(", ".join(cell))
        print("| %s (%d) |" % (task, len(seeds)), " | ".join(row), "|")
        for n in ends:
            for p in peers:
                rank = 1 + sum(0.5 if alike(medians[p, n], medians[q, n]) else medians[q, n] < medians[p, n] for q in peers if q != p)
                ranks.setdefault((p, n), []).append(rank)
    print("| mean rank |", " | ".join(", ".join("%.2f" % statistics.mean(ranks[p, n]) for n in ends) for p in peers), "|")
    print("| %s better-alike-worse |" % peers[0], " | ".join(", ".join("%d-%d-%d" % tuple(tally[p, n]) for n in ends) if p != peers[0] else "" for p in peers), "|")


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--peer", default="lbotune", metavar="NAME=COMMAND", help="what to run; without it, lbotune")
    a.add_argument("--coco", metavar="CHECKOUT", help="run bbob-constrained, not the programs with two objectives")
    a.add_argument("--functions", default="1,6,11,16,21,26,31,36,41,46,51", help="of bbob-constrained")
    a.add_argument("--dimensions", default="2,5", help="of bbob-constrained")
    a.add_argument("--seeds", type=int, default=3)
    a.add_argument("--trials", type=int, default=100)
    a.add_argument("--out", required=True, metavar="FILE", help="JSON lines of studies")
    a.add_argument("--compare", action="store_true", help="print the table of the file")
    a = a.parse_args()
    runs = {}
    if os.path.exists(a.out):
        with open(a.out) as f:
            for line in f:
                r = json.loads(line)
                runs[r["peer"], r["task"], r["seed"]] = r["trials"]
    if a.compare:
        return compare(runs)
    tasks = FRONTS
    if a.coco:
        coco, tasks = Coco(a.coco), {}
        for f in a.functions.split(","):
            for d in a.dimensions.split(","):
                tasks["f%s, d = %s" % (f, d)] = coco.task(int(f), int(d))
    peer, _, command = a.peer.partition("=")
    if not command and peer != "lbotune":
        sys.exit("--peer %s: want NAME=COMMAND" % peer)
    for seed in range(a.seeds):
        for name, task in tasks.items():
            if (peer, name, seed) not in runs:
                trials = study(command, task, bool(a.coco), seed, a.trials)
                with open(a.out, "a") as f:
                    print(json.dumps(dict(peer=peer, task=name, seed=seed, trials=trials)), file=f)


if __name__ == "__main__":
    main()
