/* Looks for a short round trip through 60 cities by simulated annealing
 * (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983).
 *
 *     anneal START END MOVES REVERSALS SEED
 *
 * The temperature falls geometrically from START to END in MOVES moves; a share
 * REVERSALS of them reverses a piece of the trip, the others move one city.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CITIES = 60 };

static double x[CITIES], y[CITIES];
static int trip[CITIES];

/* xorshift64* (Marsaglia 2003, Vigna 2016) */
static uint64_t state;

static double uniform(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (double)((state * 2685821657736338717u) >> 11) / 9007199254740992.0;
}

static int below(int n) { return (int)(uniform() * n); }

static double distance(int a, int b) { return hypot(x[a] - x[b], y[a] - y[b]); }

static double length(void)
{
    double sum = 0;
    for (int i = 0; i < CITIES; i++)
        sum += distance(trip[i], trip[(i + 1) % CITIES]);
    return sum;
}

/* Reverses the piece from i to j, i < j. */
static void reverse(int i, int j)
{
    for (; i < j; i++, j--) {
        int t = trip[i];
        trip[i] = trip[j];
        trip[j] = t;
    }
}

/* Takes the city at i out and puts it in at j. */
static void relocate(int i, int j)
{
    int city = trip[i];
    if (i < j)
        memmove(trip + i, trip + i + 1, (size_t)(j - i) * sizeof *trip);
    else
        memmove(trip + j + 1, trip + j, (size_t)(i - j) * sizeof *trip);
    trip[j] = city;
}

static double number(const char *text, const char *name, double least, double most)
{
    char *end;
    errno = 0;
    double v = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !(v >= least && v <= most)) {
        fprintf(stderr, "anneal: %s is %s: give a number from %g to %g\n", name, text, least, most);
        exit(2);
    }
    return v;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: anneal START END MOVES REVERSALS SEED\n");
        return 2;
    }
    double start = number(argv[1], "START", 1e-9, 1e9);
    double end = number(argv[2], "END", 1e-9, 1e9);
    long moves = (long)number(argv[3], "MOVES", 1, 1e9);
    double reversals = number(argv[4], "REVERSALS", 0, 1);
    uint64_t seed = strtoull(argv[5], NULL, 10);

    state = 88172645463325252u; /* the same cities for every seed */
    for (int i = 0; i < CITIES; i++) {
        x[i] = uniform();
        y[i] = uniform();
        trip[i] = i;
    }
    state ^= (seed + 1) * 0x9e3779b97f4a7c15u;
    if (state == 0)
        state = 1;

    double now = length(), best = now;
    for (long m = 0; m < moves; m++) {
        double heat = start * pow(end / start, (double)m / (double)moves);
        int i = below(CITIES), j = below(CITIES);
        int turn = uniform() < reversals;
        if (turn && i > j) {
            int t = i;
            i = j;
            j = t;
        }
        if (turn)
            reverse(i, j);
        else
            relocate(i, j);
        double next = length();
        if (next <= now || uniform() < exp((now - next) / heat)) {
            now = next;
            if (now < best)
                best = now;
        } else if (turn) {
            reverse(i, j);
        } else {
            relocate(j, i);
        }
    }
    printf("trip length = %.6f\n", best);
    return 0;
}
