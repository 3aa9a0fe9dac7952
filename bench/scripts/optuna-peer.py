#!/usr/bin/env python3
"""A sampler of Optuna as a peer of lbobench: reads JSON lines, answers JSON lines.

    apt-get install python3-optuna
    go run ./lbobench suite fronts --peer "nsga2=/usr/bin/python3 scripts/optuna-peer.py nsga2"

Samplers: random, tpe, tpe_mv (multivariate, constant liar), nsga2, cmaes, gp (Optuna 3.6
and later, needs torch). What speaks to it are lbobench/peer.go and scripts/bbob.py,
which sends one task after the other and says when a parameter exists.
"""
import json
import math
import sys
import time
import warnings

import optuna

warnings.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)


def distribution(p):
    kind, scale = p["kind"], p.get("scale", "")
    low, high, step = p.get("min", 0), p.get("max", 0), p.get("step")
    if kind == "float" and scale != "logit":
        return optuna.distributions.FloatDistribution(low, high, log=scale == "log", step=step)
    if kind == "int":
        return optuna.distributions.IntDistribution(int(low), int(high), log=scale == "log", step=int(step or 1))
    if kind == "bool":
        return optuna.distributions.CategoricalDistribution([True, False])
    if "choices" in p:
        return optuna.distributions.CategoricalDistribution(p["choices"])
    sys.exit(f"cannot tell Optuna of {p}")


def suggest(trial, name, d):
    if isinstance(d, optuna.distributions.CategoricalDistribution):
        trial.suggest_categorical(name, d.choices)
    else:
        integer = isinstance(d, optuna.distributions.IntDistribution)
        (trial.suggest_int if integer else trial.suggest_float)(name, d.low, d.high, step=d.step, log=d.log)


def sampler(name, seed, limited):
    limits = {"constraints_func": lambda trial: trial.user_attrs.get("over", (0,))} if limited else {}
    if name == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    if name == "tpe":
        return optuna.samplers.TPESampler(seed=seed, **limits)
    if name == "tpe_mv":
        return optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True, constant_liar=True, **limits)
    if name == "nsga2":
        return optuna.samplers.NSGAIISampler(seed=seed, population_size=20, **limits)
    if name == "cmaes":
        return optuna.samplers.CmaEsSampler(seed=seed)
    if name == "gp":
        return optuna.samplers.GPSampler(seed=seed, **limits)
    sys.exit(f"unknown sampler {name}")


for line in sys.stdin:
    message = json.loads(line)
    if "params" in message:
        task, running, began = message, {}, time.process_time()
        space = {p["name"]: distribution(p) for p in task["params"]}
        study = optuna.create_study(directions=["minimize"] * task["objectives"],
                                    sampler=sampler(sys.argv[1], task["seed"], task["constraints"] > 0))
        continue
    if "ask" in message:
        trial = study.ask()
        for p in task["params"]:
            if "when" not in p or eval(p["when"], {}, dict(trial.params)):
                suggest(trial, p["name"], space[p["name"]])
        running[message["ask"]] = trial
        spent = {"_seconds": time.process_time() - began} if "clock" in task else {}
        print(json.dumps(trial.params | spent), flush=True)
        continue
    trial = running.pop(message["tell"])
    if message["constraints"]:
        trial.set_user_attr("over", message["constraints"])
    if message["values"] is None:
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
    else:
        study.tell(trial, [min(v, math.inf) for v in message["values"]])
