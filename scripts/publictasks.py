#!/usr/bin/env python3
"""COCO's bbob and the surrogates of YAHPO Gym, by lbotune beside others.

    peer="/usr/bin/python3 scripts/optuna-peer.py"
    git clone https://github.com/numbbo/coco-experiment
    scripts/publictasks.py --coco coco-experiment --out bbob.jsonl --peer lbotune --peer "tpe=$peer tpe_mv"
    scripts/publictasks.py --out bbob.jsonl --compare

    git clone https://github.com/slds-lmu/yahpo_data
    scripts/publictasks.py --yahpo yahpo_data --out yahpo.jsonl --peer lbotune --peer "tpe=$peer tpe_mv"
    scripts/publictasks.py --yahpo yahpo_data --out yahpo.jsonl --mode rounds --peer lbotune --peer "tpe=$peer tpe_mv"
    scripts/publictasks.py --out yahpo.jsonl --compare

Needs numpy, python3-onnx for the surrogates, a C compiler for bbob, and a lbotune in the PATH.
A peer is a program that speaks as scripts/optuna-peer.py does. One process uses one core.
Every line of the output is one study: the values of its trials, smaller is better. Those
that are there are not repeated.
"""
import argparse, ctypes, heapq, json, math, os, random, statistics, sys

sys.dont_write_bytecode = True
from severaltasks import Coco, Lbotune, Peer, choice, real, whole

import numpy as np

# ---- bbob ----------------------------------------------------------------------------------

GROUPS = {"separable": range(1, 6), "moderate": range(6, 10), "ill-conditioned": range(10, 15),
          "multi-modal": range(15, 20), "weakly structured": range(20, 25)}
TARGETS = [10 ** (2 - i / 5) for i in range(51)]  # COCO's, above the best value


class Bbob(Coco):
    def __init__(self, checkout):
        super().__init__(checkout, "bbob", "instances: 1-100")
        self.lib.coco_problem_get_best_value.restype = ctypes.c_double

    def task(self, function, d, instance):
        """The value above the best, and the parameters."""
        problem = self.problem(function, d, instance)
        best = self.lib.coco_problem_get_best_value(problem)
        names = ["x%d" % (i + 1) for i in range(d)]

        def f(p):
            y = ctypes.c_double()
            self.lib.coco_evaluate_function(problem, (ctypes.c_double * d)(*(p[n] for n in names)), ctypes.byref(y))
            return y.value - best

        return f, [real(n, -5, 5) for n in names]


# ---- YAHPO ---------------------------------------------------------------------------------

RBV2 = ["acc", "bac", "auc", "brier", "f1", "logloss", "timetrain", "timepredict", "memory"]

# What the networks take, numbers and choices in this order, what they answer, what is to be
# minimized of that, the parameter that names the data set, and the fidelities at their highest.
SCENARIOS = {
    "lcbench": (
        ["epoch", "batch_size", "learning_rate", "momentum", "weight_decay", "num_layers", "max_units", "max_dropout"],
        ["OpenML_task_id"],
        ["time", "val_accuracy", "val_cross_entropy", "val_balanced_accuracy", "test_cross_entropy", "test_balanced_accuracy"],
        ("val_accuracy", lambda v: 100 - v), "OpenML_task_id", {"epoch": 52}),
    "rbv2_xgboost": (
        ["nrounds", "eta", "gamma", "lambda", "alpha", "subsample", "max_depth", "min_child_weight", "colsample_bytree",
         "colsample_bylevel", "rate_drop", "skip_drop", "trainsize", "repl"],
        ["task_id", "booster", "num.impute.selected.cpo"], RBV2, ("acc", lambda v: 1 - v), "task_id", {"trainsize": 1, "repl": 10}),
    "rbv2_rpart": (
        ["cp", "maxdepth", "minbucket", "minsplit", "trainsize", "repl"], ["task_id", "num.impute.selected.cpo"],
        RBV2, ("acc", lambda v: 1 - v), "task_id", {"trainsize": 1, "repl": 10}),
    "iaml_glmnet": (
        ["alpha", "s", "trainsize"], ["task_id"],
        ["mmce", "f1", "auc", "logloss", "ramtrain", "rammodel", "rampredict", "timetrain", "timepredict", "mec", "ias", "nf"],
        ("mmce", lambda v: v), "task_id", {"trainsize": 1}),
}


class Network:
    """A model.onnx, by numpy."""

    def __init__(self, path):
        import onnx
        from onnx import helper, numpy_helper
        graph = onnx.load(path).graph
        self.known = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        self.nodes = []
        for n in graph.node:
            attributes = {a.name: helper.get_attribute_value(a) for a in n.attribute}
            if n.op_type == "Constant":
                self.known[n.output[0]] = numpy_helper.to_array(attributes["value"])
            else:
                self.nodes.append((getattr(self, n.op_type.lower()), list(n.input), n.output[0], attributes))
        self.output = graph.output[0].name

    def __call__(self, x_cat, x_cont):
        v = dict(self.known, x_cat=np.asarray(x_cat, np.int32), x_cont=np.asarray(x_cont, np.float32))
        for do, inputs, output, attributes in self.nodes:
            v[output] = do(*(v[i] for i in inputs), **attributes)
        return v[self.output]

    add, sub, mul, exp, log, neg, round = np.add, np.subtract, np.multiply, np.exp, np.log, np.negative, np.rint

    def div(self, a, b):
        return a // b if a.dtype.kind == "i" else a / b

    def cast(self, a, to):
        return a.astype({1: np.float32, 6: np.int32, 7: np.int64, 11: np.float64}[to])

    def gather(self, a, i, axis=0):
        return np.take(a, i, axis)

    def unsqueeze(self, a, axes):
        return np.expand_dims(a, tuple(axes))

    def concat(self, *a, axis):
        return np.concatenate(a, axis)

    def shape(self, a):
        return np.array(a.shape)

    def slice(self, a, starts, ends, axes):
        at = [slice(None)] * a.ndim
        for s, e, i in zip(starts, ends, axes):
            at[i] = slice(s, e)
        return a[tuple(at)]

    def relu(self, a):
        return np.maximum(a, 0)

    def sigmoid(self, a):
        with np.errstate(over="ignore"):
            return 1 / (1 + np.exp(-a))

    def gemm(self, a, b, c, alpha=1.0, beta=1.0, transB=0):
        return alpha * (a @ (b.T if transB else b)) + beta * c

    def batchnormalization(self, a, scale, shift, mean, variance, epsilon, momentum):
        return (a - mean) / np.sqrt(variance + np.float32(epsilon)) * scale + shift


class Yahpo:
    """A scenario of a checkout of slds-lmu/yahpo_data."""

    def __init__(self, checkout, scenario):
        def load(name):
            with open(os.path.join(checkout, scenario, name)) as f:
                return json.load(f)

        self.numbers, self.choices, outputs, (target, self.loss), self.instance, self.fixed = SCENARIOS[scenario]
        self.network, self.codes, space = Network(os.path.join(checkout, scenario, "model.onnx")), load("encoding.json"), load("config_space.json")
        self.target = outputs.index(target)
        self.known, self.params = {}, []
        for p in space["hyperparameters"]:
            name = p["name"].replace(".", "_")  # lbotune's names have no dots
            self.known[name] = p["name"]
            if p["name"] == self.instance:
                self.instances = sorted(p["choices"], key=int)
            elif p["name"] not in self.fixed:
                if p["type"] == "categorical":
                    self.params.append(choice(name, *p["choices"]))
                else:
                    make = whole if p["type"] == "uniform_int" else real
                    self.params.append(make(name, p["lower"], p["upper"], "log" if p["log"] else ""))
        for c in space["conditions"]:
            values = c.get("values") or [c["value"]]
            p = next(p for p in self.params if p["name"] == c["child"])
            p["when"] = " or ".join("%s == '%s'" % (c["parent"], v) for v in values)
        self.params.sort(key=lambda p: "when" in p)  # a condition looks back

    def task(self, instance):
        """The loss of one configuration, or of a list of them, and the parameters. What a
        configuration does not have is 0, and so are choices that it does not have."""

        def f(ps):
            rows = []
            for p in [ps] if isinstance(ps, dict) else ps:
                c = {self.known[k]: v for k, v in p.items()}
                c.update(self.fixed)
                c[self.instance] = instance
                rows.append(([self.codes[n][c.get(n, "#na#")] for n in self.choices], [c.get(n, 0) for n in self.numbers]))
            y = self.loss(self.network(*zip(*rows))[:, self.target].astype(float)).tolist()
            return y[0] if isinstance(ps, dict) else y

        return f, self.params


def draw(params, rng):
    """A configuration at random."""
    out = {}
    for p in params:
        if "when" in p and not eval(p["when"], {}, out):
            continue
        if p["kind"] == "choice":
            out[p["name"]] = rng.choice(p["choices"])
            continue
        low, high, u = p["min"], p["max"], rng.random()
        v = low * (high / low) ** u if p["scale"] == "log" else low + u * (high - low)
        out[p["name"]] = round(v) if p["kind"] == "int" else min(v, high)
    return out


# ---- studies -------------------------------------------------------------------------------


class Random:
    """Random search."""

    def __init__(self, params, seed):
        self.params, self.rng = params, random.Random(seed)

    def ask(self, _):
        return draw(self.params, self.rng)

    def tell(self, *_):
        pass

    def close(self):
        pass


class Kept(Peer):
    """A peer that is started once for all tasks, because its imports take longer than its work."""

    pipes = {}

    def __init__(self, command, params, seed):
        if command in self.pipes:
            self.pipe = self.pipes[command]
            self.say(params=params, seed=seed, objectives=1, constraints=0)
        else:
            super().__init__(command, params, seed, 1, 0)
            self.pipes[command] = self.pipe

    def close(self):
        pass


def start(peer, command, params, seed, trials):
    if command:
        return Kept(command, params, seed)
    return Lbotune(params, seed, trials, 1, 0) if peer == "lbotune" else Random(params, seed)


def study(p, f, mode, seed, trials):
    """The values in the order in which they are told. With workers a trial takes 1 and the
    absolute value of a normal deviate."""
    rng, running, values, asked, clock = random.Random(seed), [], [], 0, 0.0
    width = 1 if mode == "single" else 8
    while len(values) < trials:
        while len(running) < width and asked < trials:
            config = p.ask(asked + 1)
            if config is None:
                break
            asked += 1
            end = clock + 1 + abs(rng.gauss(0, 1)) if mode == "workers" else asked
            heapq.heappush(running, (end, asked, config))
        if not running:
            break
        for _ in range(len(running) if mode == "rounds" else 1):
            clock, trial, config = heapq.heappop(running)
            values.append(f(config))
            p.tell(trial, [values[-1]], [])
    p.close()
    return values


# ---- comparing -----------------------------------------------------------------------------


def table(runs, mode):
    """Of bbob the percentage of the targets that are reached; of the others a score of which
    100 is the best value known and 0 the median of random configurations. Means over studies."""
    runs = {(p, t, s): v for (p, m, t, s), v in runs.items() if m in (mode, "reference")}
    reference = {t: v for (p, t, _), v in runs.items() if p == "reference"}
    peers = sorted({p for p, _, _ in runs if p != "reference"}, key=lambda p: (p != "lbotune", p))
    common = sorted(set.intersection(*({(t, s) for q, t, s in runs if q == p} for p in peers)))
    ends = (16, 32, 64, 128) if reference else (25, 50, 100)
    ends = [n for n in ends if n <= max(map(len, runs.values()))]
    top = {t: min(min(v) for (_, u, _), v in runs.items() if u == t) for t in {t for t, _ in common}}

    def score(p, t, s, n):
        best = min(runs[p, t, s][:n])
        if t in reference:
            return 100 * (reference[t][1] - best) / (reference[t][1] - top[t])
        return 100 * sum(best <= x for x in TARGETS) / len(TARGETS)

    def group(t):
        if t in reference:
            return t.split()[0]
        f, d = (int(w.lstrip("fd=")) for w in t.split()[:2])
        return "d = %d, %s" % (d, next(g for g, fs in GROUPS.items() if f in fs))

    rows = {}
    for t, s in common:
        for name in (group(t), *([] if t in reference else [group(t).split(",")[0] + ", all"]), "all"):
            rows.setdefault(name, []).append((t, s))
    order = list(GROUPS)
    print("| %s, after %s trials |" % (mode, ", ".join(map(str, ends))), " | ".join(peers), "|\n|", " | ".join(["---"] * (len(peers) + 1)), "|")

    def place(name):
        d, _, g = name.partition(", ")
        return name == "all", int(d[4:]) if d.startswith("d = ") else 0, order.index(g) if g in order else len(order), name

    for name in sorted(rows, key=place):
        cells = []
        for p in peers:
            cells.append(", ".join("%.1f" % statistics.mean(score(p, t, s, n) for t, s in rows[name]) for n in ends))
            if p != peers[0] and name == "all" or name.endswith(", all") and p != peers[0]:
                signs = [score(peers[0], t, s, ends[-1]) - score(p, t, s, ends[-1]) for t, s in rows[name]]
                better, worse = sum(v > 0.05 for v in signs), sum(v < -0.05 for v in signs)
                cells[-1] += " (%d-%d-%d)" % (better, len(signs) - better - worse, worse)
        print("| %s (%d) |" % (name, len(rows[name])), " | ".join(cells), "|")
    print("\n| mean ranks of the best values, after %s trials |" % ", ".join(map(str, ends)), " | ".join(peers), "|\n|",
          " | ".join(["---"] * (len(peers) + 1)), "|")
    for name in sorted(rows, key=place):
        if not name.endswith("all") and reference == {}:
            continue
        cells = {p: [] for p in peers}
        for n in ends:
            ranks = {p: [] for p in peers}
            for t, s in rows[name]:
                best = {p: max(min(runs[p, t, s][:n]), 1e-8) for p in peers}  # COCO's last target
                for p in peers:
                    better = sum(v < best[p] for v in best.values())
                    ranks[p].append(better + (1 + sum(v == best[p] for v in best.values())) / 2)
            for p in peers:
                cells[p].append("%.2f" % statistics.mean(ranks[p]))
        print("| %s (%d) |" % (name, len(rows[name])), " | ".join(", ".join(cells[p]) for p in peers), "|")


def numbers(text):
    """1-3,7 as a list."""
    ends = [w.split("-") for w in text.split(",")]
    return [n for e in ends for n in range(int(e[0]), int(e[-1]) + 1)]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--peer", action="append", metavar="NAME=COMMAND",
                   help="what to run, as often as you like: a peer, random, or lbotune, which it is without this")
    a.add_argument("--coco", metavar="CHECKOUT", help="run bbob of it")
    a.add_argument("--functions", default="1-24", help="of bbob")
    a.add_argument("--dimensions", default="2,3,5,10", help="of bbob")
    a.add_argument("--instances", default="11", help="of bbob")
    a.add_argument("--yahpo", metavar="CHECKOUT", help="run surrogates of it")
    a.add_argument("--scenarios", default=",".join(SCENARIOS), help="of YAHPO")
    a.add_argument("--half", choices=["developing", "judging"], default="judging",
                   help="of a scenario's data sets, sorted by number: the first, third, ..., or the second, fourth, ...")
    a.add_argument("--sets", type=int, default=3, help="how many data sets of that half, evenly spaced")
    a.add_argument("--mode", choices=["single", "rounds", "workers"], default="single",
                   help="one trial after the other, in rounds of 8, or by 8 workers of unequal speed")
    a.add_argument("--seeds", type=int, default=1)
    a.add_argument("--trials", type=int, help="100, or 128 with YAHPO")
    a.add_argument("--out", required=True, metavar="FILE", help="JSON lines of studies")
    a.add_argument("--compare", action="store_true", help="print the tables of the file")
    a = a.parse_args()
    runs = {}
    if os.path.exists(a.out):
        with open(a.out) as f:
            for line in f:
                r = json.loads(line)
                runs[r["peer"], r["mode"], r["task"], r["seed"]] = r["values"]
    if a.compare:
        for mode in ("single", "rounds", "workers"):
            if any(m == mode for _, m, _, _ in runs):
                table(runs, mode)
        return
    peers = [p.partition("=")[::2] for p in a.peer or ["lbotune"]]
    for peer, command in peers:
        if not command and peer not in ("lbotune", "random"):
            sys.exit("--peer %s: want NAME=COMMAND, lbotune or random" % peer)

    def keep(peer, mode, task, seed, values):
        with open(a.out, "a") as f:
            print(json.dumps(dict(peer=peer, mode=mode, task=task, seed=seed, values=values)), file=f)

    tasks, trials = {}, a.trials or (128 if a.yahpo else 100)
    if a.coco:
        bbob = Bbob(a.coco)
        for d in numbers(a.dimensions):
            for f in numbers(a.functions):
                for i in numbers(a.instances):
                    tasks["f%d d=%d i%d" % (f, d, i)] = bbob.task(f, d, i)
    for name in a.scenarios.split(",") if a.yahpo else ():
        scenario = Yahpo(a.yahpo, name)
        half = scenario.instances[a.half == "judging"::2]
        for i in half[::max(1, len(half) // a.sets)][:a.sets]:
            f, params = tasks["%s %s" % (name, i)] = scenario.task(i)
            if ("reference", "reference", "%s %s" % (name, i), 0) not in runs:
                rng = random.Random(12345)
                values = f([draw(params, rng) for _ in range(10000)])
                keep("reference", "reference", "%s %s" % (name, i), 0, [min(values), statistics.median(values)])
    for seed in range(a.seeds):
        for peer, command in peers:
            for name, (f, params) in tasks.items():
                if (peer, a.mode, name, seed) not in runs:
                    p = start(peer, command, params, seed, trials)
                    keep(peer, a.mode, name, seed, study(p, f, a.mode, seed, trials))


if __name__ == "__main__":
    main()
