#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
	double damping = 0.5, dt = 0.01;
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--damping")) damping = atof(argv[i + 1]);
		if (!strcmp(argv[i], "--dt")) dt = atof(argv[i + 1]);
	}
	printf("steps = %d\n", 1000);
	printf("error = %.6f\n", fabs(log(dt / 0.002)) / 10 + (damping - 0.7) * (damping - 0.7));
}
