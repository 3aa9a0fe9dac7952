#!/bin/sh
# Prints 500 documents of two kinds as word counts in liblinear's format: 200
# words, of which 40 are a little more frequent in one kind or the other.
LC_ALL=C awk 'BEGIN {
    state = 2024
    for (i = 0; i < 500; i++) {
        class = i % 2
        line = class ? "+1" : "-1"
        for (w = 1; w <= 200; w++) {
            chance = 0.05
            if (w <= 20) chance += class ? 0.09 : 0
            else if (w <= 40) chance += class ? 0 : 0.09
            count = 0
            while (uniform() < chance) count++
            if (count > 0) line = line " " w ":" count
        }
        print line
    }
}
function uniform() {  # Park and Miller, 1988
    state = (state * 16807) % 2147483647
    return state / 2147483647
}'
