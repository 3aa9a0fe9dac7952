#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s omega n\n", argv[0]);
        return 2;
    }
    double omega = atof(argv[1]), change = 1;
    int n = atoi(argv[2]), sweeps = 0;
    double *u = calloc(n + 1, sizeof *u);
    for (u[n] = 1; change > 1e-8 && sweeps < 20000; sweeps++) {
        change = 0;
        for (int i = 1; i < n; i++) {
            double step = omega * ((u[i - 1] + u[i + 1]) / 2 - u[i]);
            u[i] += step;
            change = fmax(change, fabs(step));
        }
    }
    printf("Converged after %d sweeps\n", sweeps);
}
