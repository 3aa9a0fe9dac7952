"""What Optuna's fANOVA says of trials, for cmd/lbotune/internal/report's TestWhatMattersIsTrue at length.

Reads one JSON object a line: "levels" (of each parameter 0, or of how many it is a choice),
"points" (a number between 0 and 1, or null where a parameter does not exist, for each) and
"values" (to be minimized). Prints one JSON list a line: each parameter's importance, null of
those that Optuna leaves out.
"""
import json
import sys

sys.path.append("/usr/lib/python3/dist-packages")
import optuna  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)

for line in sys.stdin:
    told = json.loads(line)
    study = optuna.create_study()
    dists = [
        optuna.distributions.CategoricalDistribution(list(range(n))) if n else optuna.distributions.FloatDistribution(0, 1)
        for n in told["levels"]
    ]
    for point, value in zip(told["points"], told["values"]):
        there = [(f"x{i}", min(int(u * n), n - 1) if n else u, d) for i, (u, n, d) in enumerate(zip(point, told["levels"], dists)) if u is not None]
        study.add_trial(
            optuna.trial.create_trial(params={k: v for k, v, _ in there}, distributions={k: d for k, _, d in there}, value=value)
        )
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=1)
    found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    print(json.dumps([found.get(f"x{i}") for i in range(len(dists))]), flush=True)
