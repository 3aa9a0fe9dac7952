#!/usr/bin/env python3
"""COCO's bbob, by lbotune beside others.

    peer="/usr/bin/python3 scripts/optuna-peer.py"
    git clone https://github.com/numbbo/coco-experiment
    scripts/bbob.py --coco coco-experiment --out bbob.jsonl --peer lbotune --peer "tpe=$peer tpe_mv"
    scripts/bbob.py --out bbob.jsonl --compare

Needs a C compiler, and a lbotune in the PATH.
A peer is a program that speaks as scripts/optuna-peer.py does. One process uses one core.
Every line of the output is one study: the values of its trials, smaller is better. Those
that are there are not repeated.
"""
import argparse, ctypes, heapq, json, math, os, random, statistics, sys

sys.dont_write_bytecode = True
from severaltasks import Coco, Lbotune, Peer, real

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


# ---- studies -------------------------------------------------------------------------------


class Random:
    """Random search."""

    def __init__(self, params, seed):
        self.params, self.rng = params, random.Random(seed)

    def ask(self, _):
        return {p["name"]: self.rng.uniform(p["min"], p["max"]) for p in self.params}

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
    """The percentage of the targets that are reached, mean ranks, and, where random search ran, pairs."""
    runs = {(p, t, s): v for (p, m, t, s), v in runs.items() if m == mode}
    peers = sorted({p for p, _, _ in runs}, key=lambda p: (p != "lbotune", p))
    common = sorted(set.intersection(*({(t, s) for q, t, s in runs if q == p} for p in peers)))
    ends = [n for n in (25, 50, 100) if n <= max(map(len, runs.values()))]

    def score(p, t, s, n):
        best = min(runs[p, t, s][:n])
        return 100 * sum(best <= x for x in TARGETS) / len(TARGETS)

    rows = {}
    for t, s in common:
        f, d = (int(w.lstrip("fd=")) for w in t.split()[:2])
        for name in ("d = %d, %s" % (d, next(g for g, fs in GROUPS.items() if f in fs)), "d = %d, all" % d, "all"):
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
        if not name.endswith("all"):
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
    if "random" in peers:
        pairs(runs, peers, {name: rows[name] for name in sorted(rows, key=place) if name.endswith("all")})


def pairs(runs, peers, rows):
    """The first peer beside each other one, at four floors: shares of a problem's range, from the best
    value to the median of random points, below which values count as equal."""
    print("\n| better-equal-worse, decades, p |", " | ".join(peers[1:]), "|\n|", " | ".join(["---"] * len(peers)), "|")
    scale = {(t, s): statistics.median(runs["random", t, s]) for t, s in rows["all"]}
    for name in rows:
        for n in (10, 25, 50, 100):
            for floor in (0.1, 0.01, 0.001, 1e-8):
                def digits(p, k):
                    return math.log10(max(min(runs[p, *k][:n]) / scale[k], floor))

                cells = []
                for p in peers[1:]:
                    gains = [digits(p, k) - digits(peers[0], k) for k in rows[name]]
                    better, worse = sum(g > 0 for g in gains), sum(g < 0 for g in gains)
                    cells.append("%d-%d-%d, %+.3f, %.2g" % (better, len(gains) - better - worse, worse, statistics.mean(gains), signed_rank(gains)))
                print("| %s (%d), after %d, below %g |" % (name, len(rows[name]), n, floor), " | ".join(cells), "|")


def signed_rank(gains):
    """The two-sided p-value of Wilcoxon's test in the normal approximation, without zeros."""
    sizes = sorted((abs(g), g > 0) for g in gains if g)
    total, variance, k = 0.0, 0.0, 0
    while k < len(sizes):
        j = k
        while j < len(sizes) and sizes[j][0] == sizes[k][0]:
            j += 1
        rank = (k + 1 + j) / 2
        total += sum(rank if up else -rank for _, up in sizes[k:j])
        variance += (j - k) * rank * rank
        k = j
    return math.erfc(abs(total) / math.sqrt(2 * variance)) if variance else 1.0


def numbers(text):
    """1-3,7 as a list."""
    ends = [w.split("-") for w in text.split(",")]
    return [n for e in ends for n in range(int(e[0]), int(e[-1]) + 1)]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--peer", action="append", metavar="NAME=COMMAND",
                   help="what to run, as often as you like: a peer, random, or lbotune, which it is without this")
    a.add_argument("--coco", metavar="CHECKOUT", help="of numbbo/coco-experiment")
    a.add_argument("--functions", default="1-24")
    a.add_argument("--dimensions", default="2,3,5,10")
    a.add_argument("--instances", default="11")
    a.add_argument("--mode", choices=["single", "rounds", "workers"], default="single",
                   help="one trial after the other, in rounds of 8, or by 8 workers of unequal speed")
    a.add_argument("--seeds", type=int, default=1)
    a.add_argument("--trials", type=int, default=100)
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
    if not a.coco:
        sys.exit("--coco: where is the checkout?")
    peers = [p.partition("=")[::2] for p in a.peer or ["lbotune"]]
    for peer, command in peers:
        if not command and peer not in ("lbotune", "random"):
            sys.exit("--peer %s: want NAME=COMMAND, lbotune or random" % peer)
    bbob = Bbob(a.coco)
    tasks = {"f%d d=%d i%d" % (f, d, i): bbob.task(f, d, i)
             for d in numbers(a.dimensions) for f in numbers(a.functions) for i in numbers(a.instances)}
    for seed in range(a.seeds):
        for peer, command in peers:
            for name, (f, params) in tasks.items():
                if (peer, a.mode, name, seed) not in runs:
                    values = study(start(peer, command, params, seed, a.trials), f, a.mode, seed, a.trials)
                    with open(a.out, "a") as out:
                        print(json.dumps(dict(peer=peer, mode=a.mode, task=name, seed=seed, values=values)), file=out)


if __name__ == "__main__":
    main()
