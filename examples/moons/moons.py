"""Tells two interleaved half moons apart by ridge regression on random Fourier features.

Prints the share of wrong answers on data that it was not trained on, and how large the
model is. More features err less, and make the model larger and slower.
"""
import math
import random
import sys


def moons(n, rng):
    """n noisy points of either moon, with +1 or -1."""
    data = []
    for i in range(n):
        t, side = math.pi * rng.random(), 1 - 2 * (i % 2)
        x, y = math.cos(t), math.sin(t)
        if side < 0:
            x, y = 1 - x, 0.5 - y
        data.append(((x + rng.gauss(0, 0.25), y + rng.gauss(0, 0.25)), side))
    return data


def solve(a, b):
    """The solution of a positive definite system, by Gaussian elimination."""
    n = len(b)
    for i in range(n):
        for k in range(i + 1, n):
            f = a[k][i] / a[i][i]
            if f:
                row, top = a[k], a[i]
                for j in range(i, n):
                    row[j] -= f * top[j]
                b[k] -= f * b[i]
    for i in reversed(range(n)):
        b[i] = (b[i] - sum(a[i][j] * b[j] for j in range(i + 1, n))) / a[i][i]
    return b


def main(features, width, ridge):
    rng = random.Random(1)
    train, test = moons(240, rng), moons(2000, rng)
    waves = [(rng.gauss(0, 1), rng.gauss(0, 1), 2 * math.pi * rng.random()) for _ in range(features)]

    def embed(p):
        return [1.0] + [math.cos((u * p[0] + v * p[1]) / width + phase) for u, v, phase in waves]

    rows = [(embed(p), side) for p, side in train]
    n = features + 1
    a = [[sum(r[i] * r[j] for r, _ in rows) + (ridge if i == j else 0) for j in range(n)] for i in range(n)]
    w = solve(a, [sum(r[i] * side for r, side in rows) for i in range(n)])
    wrong = sum((sum(x * y for x, y in zip(w, embed(p))) > 0) != (side > 0) for p, side in test)
    print(f"error={100 * wrong / len(test):.2f}")
    print(f"size={4 * (3 * features + n)}")  # bytes, in single precision


main(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]))
