#!/usr/bin/env python3
"""An optimizer with a model, as a peer of lbobench: JSON lines in, JSON lines out.

    git clone https://github.com/uber-research/TuRBO   # likewise gpytorch, linear_operator, jaxtyping
    export PYTHONPATH=TuRBO:gpytorch:linear_operator:jaxtyping
    go run ./lbobench suite shifted --peer "turbo=/usr/bin/python3 scripts/model-peer.py turbo"

Methods, which come from the package registry or from these repositories of GitHub:

    turbo     uber-research/TuRBO: TuRBO-1, 2d first points; with cornellius-gp/gpytorch and
              linear_operator, and patrick-kidger/jaxtyping
    botorch   pytorch/botorch, 0.12 or later, for the prior of the length scales that grows with
              the dimension: SingleTaskGP, Standardize, max(5, 2d) Sobol points, LogEI, and
              qLogNEI while other trials run; with what turbo needs and multipledispatch
    nei       the same with qLogNEI always, which is for noise
    hebo      huawei-noah/HEBO at its defaults; with anyoptimization/pymoo 0.6.0
    smac      automl/SMAC3: its HyperparameterOptimizationFacade, the budget after the word, or
              100, a quarter of which are first points at most; with automl/ConfigSpace

turbo and botorch see the unit cube: logarithms where the scale says so, integers rounded, a
choice as one number for each of its values, of which the largest counts, and the middle for what
does not exist in a trial. hebo and smac are told of ranges and choices, but not of conditions. A
failed trial counts as the worst value so far. Trials that are asked for with no result between
them are a batch. What speaks to this are lbobench/peer.go, scripts/realtasks.py and
scripts/bbob.py, which sends one task after the other.
"""
import json
import math
import os
import sys
import tempfile
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy

warnings.filterwarnings("ignore")


def values_of(p):
    return [False, True] if p["kind"] == "bool" else p.get("choices")


def scale(p, v):
    return math.log(v) if p.get("scale") == "log" else math.log(v / (1 - v)) if p.get("scale") == "logit" else v


def number(p, u):
    """The value at u, in 0 to 1, of a parameter's range."""
    low, high = scale(p, p.get("min", 0)), scale(p, p.get("max", 0))
    v = low + (high - low) * min(max(float(u), 0), 1)
    v = math.exp(v) if p.get("scale") == "log" else 1 / (1 + math.exp(-v)) if p.get("scale") == "logit" else v
    step = p.get("step") or (1 if p["kind"] == "int" else 0)
    if step:
        v = p.get("min", 0) + step * round((v - p.get("min", 0)) / step)
    v = min(max(v, p.get("min", 0)), p.get("max", 0))
    return round(v) if p["kind"] == "int" else v


def encode(params, values):
    out = []
    for p in params:
        choices = values_of(p)
        if p["name"] not in values:
            out += [0.5] * (len(choices) if choices else 1)
        elif choices:
            out += [float(c == values[p["name"]]) for c in choices]
        else:
            low, high = scale(p, p.get("min", 0)), scale(p, p.get("max", 0))
            out.append((scale(p, values[p["name"]]) - low) / (high - low))
    return numpy.clip(numpy.array(out), 0, 1)


def decode(params, u):
    out, at = {}, 0
    for p in params:
        choices = values_of(p)
        n = len(choices) if choices else 1
        out[p["name"]] = choices[int(numpy.argmax(u[at:at + n]))] if choices else number(p, u[at])
        at += n
    return out


def existing(params, values):
    out = {}
    for p in params:
        if not p.get("when") or eval(p["when"], {}, dict(out)):
            out[p["name"]] = values[p["name"]]
    return out


def finished(trials):
    """Those that were told, in this order, and their values: for a failed one the worst so far."""
    told, out, worst = sorted((t for t in trials if t.told), key=lambda t: t.told), [], None
    for t in told:
        worst = t.value if worst is None else worst if t.value is None else max(worst, t.value)
        out.append(worst if t.value is None else t.value)
    first = next((v for v in out if v is not None), 0.0)  # of those that fail before all others
    return told, numpy.array([first if v is None else v for v in out])


class Turbo:
    """TuRBO-1 by its own steps. The Thompson samples of a batch are independent, so that they
    can be drawn one by one; the trust region changes its size when a batch is complete."""

    def __init__(self, params, d, seed):
        from turbo import Turbo1
        self.d, self.restarts = d, 0
        self.run = Turbo1(f=None, lb=numpy.zeros(d), ub=numpy.ones(d), n_init=2 * d, max_evals=10**6, batch_size=1, verbose=False)
        self.begin()

    def begin(self):
        from turbo.utils import latin_hypercube
        self.run._restart()
        self.design, self.restarts, self.model = list(latin_hypercube(2 * self.d, self.d)), self.restarts + 1, None

    def ask(self, t, trials):
        t.region = self.restarts
        told, y = finished([o for o in trials if o.region == self.restarts])
        t.modelled = not self.design and len(told) > 1
        if self.design:
            return self.design.pop(0)
        if not t.modelled:
            return numpy.random.uniform(size=self.d)  # more trials at once than first points
        x = numpy.array([o.u for o in told])
        known, hypers = self.model or (0, {})
        fresh = known != len(told)
        x, y, hypers = self.run._create_candidates(x, y, length=self.run.length, n_training_steps=50 if fresh else 0,
                                                   hypers={} if fresh else hypers)
        self.model = len(told), hypers
        return self.run._select_candidates(x, y)[0]

    def tell(self, t, trials):
        batch = [o for o in trials if o.batch == t.batch and o.region == self.restarts]
        if any(not o.told for o in batch):
            return
        told, y = finished([o for o in trials if o.region == self.restarts])
        new = [v for o, v in zip(told, y) if o in batch and o.modelled]
        old = [v for o, v in zip(told, y) if o not in batch]
        if new and old:
            self.run.failtol = math.ceil(max(4, self.d) / len(new))
            self.run._fX = numpy.array(old)
            self.run._adjust_length(numpy.array(new))
        if self.run.length < self.run.length_min:
            self.begin()


class Botorch:
    noisy = False

    def __init__(self, params, d, seed):
        from torch.quasirandom import SobolEngine
        self.d, self.model, self.known = d, None, 0
        self.sobol, self.first = SobolEngine(d, scramble=True, seed=seed % 2**31), max(5, 2 * d)

    def ask(self, t, trials):
        import torch
        from botorch.acquisition import LogExpectedImprovement, qLogNoisyExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Standardize
        from botorch.optim import optimize_acqf
        from botorch.sampling.normal import SobolQMCNormalSampler
        from gpytorch.mlls import ExactMarginalLogLikelihood
        told, y = finished(trials)
        if len(trials) < self.first or len(told) < 2:
            return self.sobol.draw(1, dtype=torch.double)[0].numpy()
        x = torch.tensor(numpy.array([o.u for o in told]))
        if self.known != len(told):
            self.model = SingleTaskGP(x, -torch.tensor(y)[:, None], outcome_transform=Standardize(1))
            fit_gpytorch_mll(ExactMarginalLogLikelihood(self.model.likelihood, self.model))
            self.known = len(told)
        pending = [o.u for o in trials if not o.told]
        if pending or self.noisy:
            gain = qLogNoisyExpectedImprovement(self.model, x, SobolQMCNormalSampler(torch.Size([128])), prune_baseline=True,
                                                X_pending=torch.tensor(numpy.array(pending)) if pending else None)
        else:
            gain = LogExpectedImprovement(self.model, -y.min())
        bounds = torch.stack([torch.zeros(self.d), torch.ones(self.d)]).double()
        return optimize_acqf(gain, bounds, q=1, num_restarts=10, raw_samples=512, options={"maxiter": 200})[0][0].detach().numpy()

    def tell(self, t, trials):
        pass


class Nei(Botorch):
    noisy = True


def plain(params, row):
    """The values of a row in which a choice is the number of its value."""
    def value(p, v):
        return values_of(p)[int(v)] if values_of(p) else int(v) if p["kind"] == "int" else float(v)
    return {p["name"]: value(p, row[p["name"]]) for p in params}


class Hebo:
    """HEBO proposes a batch at once, and is asked for as many as were wanted the last time."""

    def __init__(self, params, d, seed):
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO

        def kind(p):
            if values_of(p):
                return {"name": p["name"], "type": "cat", "categories": list(range(len(values_of(p))))}
            low, high = p.get("min", 0), p.get("max", 0)
            log = p.get("scale") == "log"
            if p["kind"] == "int":
                return {"name": p["name"], "type": "pow_int" if log else "int", "lb": low, "ub": high, "base": 10}
            return {"name": p["name"], "type": "pow" if log else "num", "lb": low, "ub": high, "base": 10}

        self.params, self.ready = params, []
        self.run = HEBO(DesignSpace().parse([kind(p) for p in params]), scramble_seed=seed % 2**31)

    def ask(self, t, trials):
        if not self.ready:
            before = [o for o in trials if o.batch == t.batch - 1]
            self.ready = self.run.suggest(n_suggestions=max(1, len(before))).to_dict("records")
        t.row = self.ready.pop(0)
        return plain(self.params, t.row)

    def tell(self, t, trials):
        import pandas
        self.ready = []
        self.run.observe(pandas.DataFrame([t.row]), finished(trials)[1][-1:, None])


class Smac:
    def __init__(self, params, d, seed):
        import ConfigSpace
        import smac
        from smac.runhistory.dataclasses import TrialValue
        space, self.params, self.value = ConfigSpace.ConfigurationSpace(seed=seed % 2**31), params, TrialValue
        for p in params:
            low, high, log = p.get("min", 0), p.get("max", 0), p.get("scale") == "log"
            if values_of(p):
                h = ConfigSpace.CategoricalHyperparameter(p["name"], list(range(len(values_of(p)))))
            elif p["kind"] == "int":
                h = ConfigSpace.UniformIntegerHyperparameter(p["name"], int(low), int(high), log=log)
            else:
                h = ConfigSpace.UniformFloatHyperparameter(p["name"], low, high, log=log)
            space.add(h)
        self.place = tempfile.TemporaryDirectory()
        scenario = smac.Scenario(space, deterministic=True, output_directory=self.place.name, seed=seed % 2**31,
                                 n_trials=int(sys.argv[2]) if len(sys.argv) > 2 else 100)
        self.run = smac.HyperparameterOptimizationFacade(scenario, lambda config, seed=0: 0.0, logging_level=50)

    def ask(self, t, trials):
        t.info = self.run.ask()
        return plain(self.params, t.info.config)

    def tell(self, t, trials):
        self.run.tell(t.info, self.value(cost=float(finished(trials)[1][-1])), save=False)


class Trial:
    """told is its place among the results, or 0, region the trust region that proposed it."""

    def __init__(self, batch):
        self.batch, self.told, self.value, self.region, self.u = batch, 0, None, 0, None


METHODS = {"turbo": Turbo, "botorch": Botorch, "nei": Nei, "hebo": Hebo, "smac": Smac}
if len(sys.argv) < 2 or sys.argv[1] not in METHODS:
    sys.exit("which of %s?" % ", ".join(METHODS))
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what a library prints is not an answer
for line in sys.stdin:
    message = json.loads(line)
    if "params" in message:
        if message["objectives"] != 1 or message["constraints"]:
            sys.exit("one objective, and no constraints")
        params, trials, batch, told, between = message["params"], {}, 1, 0, False
        if sys.argv[1] != "smac":
            import torch
            torch.set_num_threads(1)
            torch.manual_seed(message["seed"])
        numpy.random.seed(message["seed"] % 2**32)
        method = METHODS[sys.argv[1]](params, len(encode(params, {})), message["seed"])
    elif "ask" in message:
        batch, between = batch + between, False
        trials[message["ask"]] = t = Trial(batch)
        values = method.ask(t, list(trials.values())[:-1])
        values = existing(params, values if isinstance(values, dict) else decode(params, values))
        t.u = encode(params, values)
        print(json.dumps(values), file=answers, flush=True)
    else:
        t, told, between = trials[message["tell"]], told + 1, True
        t.told, t.value = told, None if message["values"] is None else message["values"][0]
        if t.value is not None and not math.isfinite(t.value):
            t.value = None
        method.tell(t, list(trials.values()))
