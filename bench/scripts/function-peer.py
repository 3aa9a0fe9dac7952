#!/usr/bin/env python3
"""An optimizer that calls a function, as a peer of lbobench: JSON lines in, JSON lines out.

    apt-get install python3-scipy python3-nlopt libdlib-dev g++
    go run ./lbobench suite shifted --peer "bobyqa=/usr/bin/python3 scripts/function-peer.py bobyqa"

Methods: neldermead, lbfgs (SciPy; gradients by differences, each of which counts), bobyqa
(NLopt), dlib (global_function_search as find_max_global sets it up, which would save on its
search beside so fast a function). The first three begin again at a random point whenever
they have converged, and with the word center after the method they begin at the center. They
see the unit cube, numbers only, one trial at a time. What speaks to this are
lbobench/peer.go and scripts/bbob.py, which sends one task after the other.
"""
import ctypes
import json
import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
import traceback

import numpy


def search(task, asked, told):
    """Optimizes a task until the input ends; what it asks is put into the one queue, and it
    waits for the values in the other."""
    if task["objectives"] != 1 or task["constraints"] or any("choices" in p or p["kind"] == "bool" for p in task["params"]):
        raise SystemExit("one objective, no constraints, and numbers only")
    rng, worst = numpy.random.default_rng(task["seed"]), 0.0

    def configuration(u):
        out = {}
        for p, v in zip(task["params"], numpy.clip(u, 0, 1)):
            low, high, scale = p.get("min", 0), p.get("max", 0), p.get("scale", "")
            if scale == "log":
                v = min(high, max(low, low * (high / low) ** v))
            else:
                v = low + (high - low) * v
            out[p["name"]] = round(v) if p["kind"] == "int" else float(v)
        return out

    def objective(u):
        """Evaluates a point of the cube; a failed trial counts as the worst so far."""
        nonlocal worst
        asked.put(configuration(numpy.asarray(u, dtype=float).ravel()))
        value = told.get()
        if value is None or not math.isfinite(value):
            return worst
        worst = max(worst, value)
        return value

    optimize(sys.argv[1], len(task["params"]), objective, rng, task["seed"])


DLIB = """
#include <dlib/global_optimization.h>
extern "C" void search(int d, long seed, double (*f)(const double *)) {
    dlib::matrix<double, 0, 1> lo = dlib::zeros_matrix<double>(d, 1), up = dlib::ones_matrix<double>(d, 1);
    dlib::global_function_search opt({dlib::function_spec(lo, up)}, {{}});
    opt.set_seed(seed);
    opt.set_solver_epsilon(0);
    for (;;) {
        auto next = opt.get_next_x();
        dlib::matrix<double, 0, 1> x = next.x();
        next.set(-f(&x(0)));
    }
}
"""


def dlib():
    """The library of a compiled DLIB, which takes a minute the first time."""
    made = os.path.join(os.path.expanduser("~"), ".cache", "lbotune-dlib.so")
    if not os.path.exists(made):
        os.makedirs(os.path.dirname(made), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(made)) as place:
            with open(place + "/search.cpp", "w") as f:
                f.write(DLIB)
            subprocess.run(["g++", "-O2", "-w", "-shared", "-fPIC", place + "/search.cpp", "-o", place + "/search.so", "-ldlib"], check=True)
            os.rename(place + "/search.so", made)
    return ctypes.CDLL(made)


def optimize(method, d, objective, rng, seed):
    if method == "dlib":
        told = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.POINTER(ctypes.c_double))(lambda u: objective(u[:d]))
        dlib().search(d, ctypes.c_long(seed % 2**31), told)
    first = "center" in sys.argv[2:]
    while True:
        start, first = numpy.full(d, 0.5) if first else rng.uniform(size=d), False
        if method == "bobyqa":
            import nlopt
            run = nlopt.opt(nlopt.LN_BOBYQA, d)
            run.set_min_objective(lambda u, _: objective(u))
            run.set_lower_bounds(numpy.zeros(d))
            run.set_upper_bounds(numpy.ones(d))
            run.set_initial_step(0.2)
            run.set_xtol_abs(1e-6)
            try:
                run.optimize(start)
            except (nlopt.RoundoffLimited, RuntimeError, ValueError):
                pass  # it has converged as far as it can
            continue
        from scipy.optimize import minimize
        if method == "neldermead":
            simplex = numpy.clip(start + 0.2 * numpy.vstack([numpy.zeros(d), numpy.eye(d) * numpy.where(start > 0.5, -1, 1)]), 0, 1)
            minimize(objective, start, method="Nelder-Mead", bounds=[(0, 1)] * d,
                     options={"initial_simplex": simplex, "xatol": 1e-6, "fatol": 1e-12, "maxfev": 10**6})
        elif method == "lbfgs":
            minimize(objective, start, method="L-BFGS-B", bounds=[(0, 1)] * d)
        else:
            sys.exit(f"unknown method {method}")


def work(*task):
    """Searches; without it nobody would answer."""
    try:
        search(*task)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


for line in sys.stdin:
    message = json.loads(line)
    if "params" in message:  # another task: the last one's thread waits for a value that will not come
        asked, told, running = queue.Queue(), queue.Queue(), None
        threading.Thread(target=work, args=(message, asked, told), daemon=True).start()
    elif "ask" in message:
        if running is not None:
            sys.exit("one trial at a time")
        running = message["ask"]
        print(json.dumps(asked.get()), flush=True)
    else:
        running = None
        values = message["values"]
        told.put(None if values is None else values[0])
os._exit(0)
