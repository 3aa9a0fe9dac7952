#!/usr/bin/env python3
"""Forecasts a seasonal series by exponential smoothing (Holt 1957, Winters 1960)
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


def series(n):
    """A trend, a season of 12, a change of level, and noise that is always the same."""
    state, values = 7, []
    for t in range(n):
        state = state * 16807 % 2147483647
        noise = state / 2147483647 - 0.5
        level = 20 + 0.05 * t + (6 if t > n // 2 else 0)
        values.append(level * (1 + 0.25 * math.sin(2 * math.pi * t / 12)) + 3 * noise)
    return values


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
        series(400),
        period=config["season"]["period"],
        alpha=smoothing["level"],
        beta=smoothing["trend"],
        gamma=smoothing["season"],
        damping=smoothing["damping"] if smoothing["damped"] else 1.0,
    )
    print(json.dumps({"model": config["model"], "rmse": error}))


if __name__ == "__main__":
    main()
