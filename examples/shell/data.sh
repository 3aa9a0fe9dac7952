#!/bin/sh
# Prints about 400 KB of a measuring station's log, always the same.
LC_ALL=C awk 'BEGIN {
    state = 99
    for (i = 0; i < 8000; i++) {
        station = int(uniform() * 12)
        level[station] += uniform() - 0.5
        printf "2024-%02d-%02dT%02d:%02d:00Z station-%02d level=%+.3f flow=%.2f %s\n",
            1 + int(i / 720) % 12, 1 + int(i / 24) % 28, i % 24, int(uniform() * 60), station,
            level[station], 10 + 5 * sin(i / 24), uniform() < 0.03 ? "CHECK" : "ok"
    }
}
function uniform() {  # Park and Miller, 1988
    state = (state * 16807) % 2147483647
    return state / 2147483647
}'
