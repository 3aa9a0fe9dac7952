import argparse
import math

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--weight_decay", type=float, default=1e-4)
parser.add_argument("--optimizer", choices=["sgd", "adam", "rmsprop"], default="sgd")
parser.add_argument("--use_bn", action="store_true")
parser.add_argument("--epochs", type=int, default=5)
args = parser.parse_args()
loss = (math.log10(args.lr) + 3) ** 2 / 4 + (math.log10(args.weight_decay) + 3) ** 2 / 20
loss += 0.3 * (args.optimizer != "adam")
for epoch in range(args.epochs):
    print(f"epoch {epoch} train_loss {0.9 * loss + 1 / (epoch + 1):.5f} val_loss {loss + 1 / (epoch + 1):.5f}")
