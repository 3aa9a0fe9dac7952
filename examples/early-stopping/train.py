"""Trains boosted trees on handwritten digits and prints the loss on held-out images after each round.

    train.py --eta 0.3 --depth 6 --child 1 --subsample 1 --rounds 81 [--checkpoint DIR]

With a directory for checkpoints it goes on after the last round that it has finished there.
It needs xgboost and scikit-learn, which brings the images.
"""
import argparse
import os

import xgboost
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

parser = argparse.ArgumentParser()
parser.add_argument("--eta", type=float, default=0.3)
parser.add_argument("--depth", type=int, default=6)
parser.add_argument("--child", type=float, default=1)
parser.add_argument("--subsample", type=float, default=1)
parser.add_argument("--rounds", type=int, default=81)
parser.add_argument("--checkpoint")
args = parser.parse_args()

images, labels = load_digits(return_X_y=True)
x, held, y, answers = train_test_split(images, labels, test_size=0.3, random_state=0, stratify=labels)
train, valid = xgboost.DMatrix(x, y), xgboost.DMatrix(held, answers)
model = xgboost.Booster(
    {"objective": "multi:softprob", "num_class": 10, "eval_metric": "mlogloss", "nthread": 1, "seed": 1,
     "eta": args.eta, "max_depth": args.depth, "min_child_weight": args.child, "subsample": args.subsample}, [train, valid])
saved = os.path.join(args.checkpoint or "", "model.json")
done = 0
if args.checkpoint and os.path.exists(saved):
    model.load_model(saved)
    done = model.num_boosted_rounds()
    print(f"continue after round {done}", flush=True)
for step in range(done, args.rounds):
    model.update(train, step)
    print(model.eval(valid, "valid", step), flush=True)
if done >= args.rounds:
    print(model.eval(valid, "valid", done - 1))
if args.checkpoint:
    model.save_model(saved + ".new.json")
    os.replace(saved + ".new.json", saved)
