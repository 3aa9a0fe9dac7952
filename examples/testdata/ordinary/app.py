# Overrides as Hydra has them: app.py model.lr=0.1 model.depth=3
import math
import sys

config = {"model": {"lr": 0.1, "depth": 3}, "seed": 1}
for override in sys.argv[1:]:
    path, value = override.split("=")
    node = config
    *parents, last = path.split(".")
    for key in parents:
        node = node[key]
    node[last] = type(node[last])(value)
model = config["model"]
print("accuracy:", 0.95 - abs(math.log10(model["lr"]) + 2.2) / 10 - abs(model["depth"] - 5) / 20)
