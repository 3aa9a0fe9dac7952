#!/usr/bin/env python3
"""Trains a small neural network on two spirals, with the standard library only.

Prints one line per epoch, over which a progress bar runs by carriage returns,
as training frameworks do.
"""

import argparse
import math
import random
import sys


def spirals(n, rng):
    """n points of two interleaved spirals: ((x, y), label)."""
    points = []
    for i in range(n):
        label = i % 2
        t = 0.25 + 2.5 * rng.random()
        angle = t * math.pi / 1.1 + label * math.pi
        r = t / 2.75
        noise = lambda: rng.gauss(0, 0.05)
        points.append(((r * math.cos(angle) + noise(), r * math.sin(angle) + noise()), label))
    return points


class Network:
    """One hidden layer of tanh units and a logistic output."""

    def __init__(self, hidden, rng):
        self.w = [[rng.gauss(0, 1.5), rng.gauss(0, 1.5), rng.gauss(0, 0.5)] for _ in range(hidden)]
        self.v = [rng.gauss(0, 1 / math.sqrt(hidden)) for _ in range(hidden + 1)]
        self.dw = [[0.0] * 3 for _ in range(hidden)]
        self.dv = [0.0] * (hidden + 1)

    def forward(self, x):
        h = [math.tanh(w[0] * x[0] + w[1] * x[1] + w[2]) for w in self.w]
        z = self.v[-1] + sum(a * b for a, b in zip(self.v, h))
        return h, z

    def step(self, x, label, lr, momentum):
        """One gradient step on one point; returns its loss before the step."""
        h, z = self.forward(x)
        error = sigmoid(z) - label
        for j, a in enumerate(h):
            back = error * self.v[j] * (1 - a * a)
            w, dw = self.w[j], self.dw[j]
            for k, v in enumerate((x[0], x[1], 1.0)):
                dw[k] = momentum * dw[k] - lr * back * v
                w[k] += dw[k]
            self.dv[j] = momentum * self.dv[j] - lr * error * a
            self.v[j] += self.dv[j]
        self.dv[-1] = momentum * self.dv[-1] - lr * error
        self.v[-1] += self.dv[-1]
        return cross_entropy(z, label)


def sigmoid(z):
    return 1 / (1 + math.exp(-z)) if z > 0 else math.exp(z) / (1 + math.exp(z))


def cross_entropy(z, label):
    return max(z, 0) - z * label + math.log1p(math.exp(-abs(z)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--momentum", type=float, default=0.5)
    parser.add_argument("--hidden", type=int, default=12)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    data = random.Random(2)
    train, valid = spirals(300, data), spirals(200, data)
    rng = random.Random(args.seed)
    net = Network(args.hidden, rng)
    for epoch in range(1, args.epochs + 1):
        rng.shuffle(train)
        loss = 0.0
        for i, (x, label) in enumerate(train, 1):
            loss += net.step(x, label, args.lr, args.momentum)
            if i % 60 == 0:
                bar = "=" * (i // 15) + "." * ((len(train) - i) // 15)
                sys.stdout.write(f"\repoch {epoch}/{args.epochs} [{bar}] loss: {loss / i:.4f}")
        val = sum(cross_entropy(net.forward(x)[1], label) for x, label in valid) / len(valid)
        sys.stdout.write(f" - val_loss: {val:.4f}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
