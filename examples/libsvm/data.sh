#!/bin/sh
# Prints 400 points of three rings, with two features that say nothing, in
# libsvm's format. Always the same ones: awk's own random numbers differ between
# implementations, so a small generator stands in for them.
LC_ALL=C awk 'BEGIN {
    state = 12345
    for (i = 0; i < 400; i++) {
        class = i % 3
        radius = 0.5 + class + 0.25 * normal()
        angle = 6.283185307 * uniform()
        printf "%d 1:%.4f 2:%.4f 3:%.4f 4:%.4f\n", class,
            radius * cos(angle), radius * sin(angle), 0.5 * normal(), 0.5 * normal()
    }
}
function uniform() {  # Park and Miller, 1988
    state = (state * 16807) % 2147483647
    return state / 2147483647
}
function normal(  sum, k) {
    for (k = 0; k < 12; k++) sum += uniform()
    return sum - 6
}'
