#!/usr/bin/env python3
"""Forecasts how many passengers fly, by exponential smoothing (Holt 1957, Winters 1960),
and prints the error of its forecasts. All settings come from a YAML file:

    forecast.py CONFIG
"""

import json
import math
import sys


def read_yaml(path):
    """Reads as much of YAML as the configuration needs: nested maps of scalars."""
    root = {}
    open_maps = [(-1, root)]
    with open(path, encoding="utf-8") as lines:
        for n, line in enumerate(lines, 1):
            line = line.split("#")[0].rstrip()
            if not line:
                continue
            key, colon, value = line.strip().partition(":")
            if not colon:
                sys.exit(f"{path}:{n}: expected 'key: value', found {line.strip()!r}")
            indent = len(line) - len(line.lstrip())
            while open_maps[-1][0] >= indent:
                open_maps.pop()
            inside = open_maps[-1][1]
            if value.strip():
                inside[key] = scalar(value.strip())
            else:
                inside[key] = {}
                open_maps.append((indent, inside[key]))
    return root


def scalar(text):
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text.strip("\"'")


# Airline passengers of the world in thousands a month, 1949 to 1960 (Box and Jenkins 1976, series G).
PASSENGERS = [
    112, 118, 132, 129, 121, 135, 148, 148, 136, 119, 104, 118,
    115, 126, 141, 135, 125, 149, 170, 170, 158, 133, 114, 140,
    145, 150, 178, 163, 172, 178, 199, 199, 184, 162, 146, 166,
    171, 180, 193, 181, 183, 218, 230, 242, 209, 191, 172, 194,
    196, 196, 236, 235, 229, 243, 264, 272, 237, 211, 180, 201,
    204, 188, 235, 227, 234, 264, 302, 293, 259, 229, 203, 229,
    242, 233, 267, 269, 270, 315, 364, 347, 312, 274, 237, 278,
    284, 277, 317, 313, 318, 374, 413, 405, 355, 306, 271, 306,
    315, 301, 356, 348, 355, 422, 465, 467, 404, 347, 305, 336,
    340, 318, 362, 348, 363, 435, 491, 505, 404, 359, 310, 337,
    360, 342, 406, 396, 420, 472, 548, 559, 463, 407, 362, 405,
    417, 391, 419, 461, 472, 535, 622, 606, 508, 461, 390, 432,
]


def forecast_error(values, period, alpha, beta, gamma, damping):
    """Root of the mean squared one-step error after the first two seasons."""
    first = values[:period]
    level = sum(first) / period
    trend = (sum(values[period:2 * period]) - sum(first)) / period**2
    season = [v / level for v in first]
    total, count = 0.0, 0
    for t in range(period, len(values)):
        s = season[t % period]
        expected = (level + damping * trend) * s
        if t >= 2 * period:
            total += (values[t] - expected) ** 2
            count += 1
        before = level
        level = alpha * values[t] / s + (1 - alpha) * (level + damping * trend)
        trend = beta * (level - before) + (1 - beta) * damping * trend
        season[t % period] = gamma * values[t] / level + (1 - gamma) * s
    return math.sqrt(total / count)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    config = read_yaml(sys.argv[1])
    smoothing = config["smoothing"]
    error = forecast_error(
        PASSENGERS,
        period=config["season"]["period"],
        alpha=smoothing["level"],
        beta=smoothing["trend"],
        gamma=smoothing["season"],
        damping=smoothing["damping"] if smoothing["damped"] else 1.0,
    )
    print(json.dumps({"model": config["model"], "rmse": error}))


if __name__ == "__main__":
    main()
