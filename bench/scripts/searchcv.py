#!/usr/bin/env python3
"""Compare lbotune with scikit-learn's own searches, on scikit-learn's bundled data.

    scripts/searchcv.py > searchcv.jsonl
    scripts/searchcv.py --table searchcv.jsonl

Needs numpy and scikit-learn (Debian: python3-sklearn), and a lbotune in the PATH. Every search
looks at 70 % of the data by five-fold cross-validation and has 200 fits: 40 configurations, or
for HalvingRandomSearchCV 27, 9, 3 and 1 on more and more examples. The model of the best is
then judged on the other 30 %. lbotune is asked over one pipe (lbotune drive), one trial after
another. In confirmed its five best are cross-validated on five other divisions into folds,
which takes 125 fits more, as [run] confirm = 5 would. Every line of the output is one search.
"""
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOMAXPROCS"):
    os.environ[name] = "1"

import argparse, collections, json, statistics, sys, warnings

warnings.filterwarnings("ignore")
sys.dont_write_bytecode = True
from realtasks import Lbotune, choice, real, whole
from scipy.stats import loguniform, randint
from sklearn import datasets
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.experimental import enable_halving_search_cv
from sklearn.metrics import get_scorer
from sklearn.model_selection import (HalvingRandomSearchCV, RandomizedSearchCV, StratifiedKFold, cross_val_score,
                                     train_test_split)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC


def svc(p):
    return make_pipeline(StandardScaler(), SVC(
        C=p["C"], kernel=p.get("kernel", "rbf"), gamma=p["gamma"], degree=p.get("degree", 3), coef0=p.get("coef0", 0),
        max_iter=5000))


def svc_or_trees(p):
    if p["model"] == "svc":
        return svc(p)
    return HistGradientBoostingClassifier(learning_rate=p["rate"], max_iter=p["trees"], max_leaf_nodes=p["leaves"],
                                          min_samples_leaf=p["least"], l2_regularization=p["l2"], random_state=0)


# A task: its data, how many of them, the score, the model, and the parameters.
TASKS = {
    "cancer": ("breast_cancer", None, "roc_auc", svc_or_trees, [
        choice("model", "svc", "trees"),
        real("C", 1e-3, 1e3, True, when="model == 'svc'"), real("gamma", 1e-5, 1, True, when="model == 'svc'"),
        real("rate", 1e-2, 1, True, when="model == 'trees'"), whole("trees", 10, 100, True, when="model == 'trees'"),
        whole("leaves", 2, 64, True, when="model == 'trees'"), whole("least", 1, 50, True, when="model == 'trees'"),
        real("l2", 1e-6, 10, True, when="model == 'trees'")]),
    "digits": ("digits", 500, "accuracy", svc, [
        choice("kernel", "rbf", "poly", "sigmoid"), real("C", 1e-3, 1e3, True), real("gamma", 1e-5, 1, True),
        whole("degree", 2, 5, when="kernel == 'poly'"), real("coef0", 1e-2, 10, True, when="kernel != 'rbf'")]),
}


class Model(ClassifierMixin, BaseEstimator):
    """A task's model as scikit-learn's searches want it: all parameters at once."""

    def __init__(self, make=None, p=None):
        self.make, self.p = make, p

    def fit(self, x, y):
        self.classes_ = sorted(set(y))
        self.model_ = self.make(self.p).fit(x, y)
        return self

    def predict(self, x):
        return self.model_.predict(x)

    def decision_function(self, x):
        if hasattr(self.model_, "decision_function"):
            return self.model_.decision_function(x)
        return self.model_.predict_proba(x)[:, 1]


class Configurations:
    """Draws configurations at random: a distribution over dictionaries."""

    def __init__(self, params):
        self.params = params

    def rvs(self, random_state):
        p = {}
        for q in self.params:
            if q["when"] and not eval(q["when"], {}, dict(p)):
                continue
            if q["type"] == "choice":
                p[q["name"]] = q["choices"][random_state.randint(len(q["choices"]))]
            elif q["log"]:
                v = loguniform(q["min"], q["max"]).rvs(random_state=random_state)
                p[q["name"]] = round(v) if q["type"] == "int" else v
            else:
                p[q["name"]] = int(randint(q["min"], q["max"] + 1).rvs(random_state=random_state))
        return p


def spent():
    """Seconds of processor, lbotune's own with them."""
    return sum(os.times()[:4])


def folds(seed):
    return StratifiedKFold(5, shuffle=True, random_state=seed)


def lbotune(make, params, score, x, y, seed):
    """The configurations, best first: with confirmation the first is another."""
    study, scores = Lbotune(params, seed, 40, None), []
    while True:
        trial, p = study.ask()
        if trial is None:
            break
        scores.append((cross_val_score(Model(make, p), x, y, scoring=score, cv=folds(seed)).mean(), -trial, p))
        study.tell(trial, -scores[-1][0])
    study.close()
    return sorted(scores, key=lambda s: s[:2], reverse=True)


def confirmed(best, make, score, x, y, seed):
    means = []
    for _, _, p in best[:5]:
        means.append(statistics.mean(
            cross_val_score(Model(make, p), x, y, scoring=score, cv=folds(1000 + 10 * seed + k)).mean() for k in range(5)))
    return best[means.index(max(means))]


def study(task, seed):
    data, size, score, make, params = TASKS[task]
    x, y = getattr(datasets, "load_" + data)(return_X_y=True)
    x, held, y, answers = train_test_split(x, y, train_size=size or 0.7, random_state=seed, stratify=y)

    def tell(search, cv, p, began):
        test = get_scorer(score)(Model(make, p).fit(x, y), held, answers)
        print(json.dumps({"task": task, "search": search, "seed": seed, "cv": cv, "test": test,
                          "seconds": spent() - began, "params": p}), flush=True)

    began = spent()
    best = lbotune(make, params, score, x, y, seed)
    tell("lbotune", best[0][0], best[0][2], began)
    cv, _, p = confirmed(best, make, score, x, y, seed)
    tell("lbotune, confirmed", cv, p, began)
    space, common = {"p": Configurations(params)}, dict(scoring=score, cv=folds(seed), random_state=seed, refit=False)
    for name, search in (
            ("RandomizedSearchCV", RandomizedSearchCV(Model(make), space, n_iter=40, **common)),
            ("HalvingRandomSearchCV", HalvingRandomSearchCV(
                Model(make), space, n_candidates=27, factor=3, min_resources=len(x) // 27, **common))):
        began = spent()
        search.fit(x, y)
        tell(name, search.best_score_, search.best_params_["p"], began)


def table(path):
    rows = collections.defaultdict(list)
    with open(path) as f:
        for line in f:
            r = json.loads(line)
            rows[r["task"], r["search"]].append(r)
    print("| data | search | cross-validated, by seed | mean | held out | seconds |\n| --- | --- | --- | --- | --- | --- |")
    for (task, search), rs in sorted(rows.items(), key=lambda kv: kv[0][0]):
        rs.sort(key=lambda r: r["seed"])
        print("| %s | %s | %s | %.4f | %.4f | %.1f |" % (
            task, search, " ".join("%.4f" % r["cv"] for r in rs), statistics.mean(r["cv"] for r in rs),
            statistics.mean(r["test"] for r in rs), statistics.median(r["seconds"] for r in rs)))


if __name__ == "__main__":
    a = argparse.ArgumentParser()
    a.add_argument("--seeds", type=int, default=5)
    a.add_argument("--table", metavar="FILE")
    args = a.parse_args()
    if args.table:
        table(args.table)
    else:
        for task in TASKS:
            for seed in range(1, args.seeds + 1):
                study(task, seed)
