#include <stdio.h>
#include <stdlib.h>
#ifndef BLOCK
#define BLOCK 8
#endif
#ifdef __OPTIMIZE__
#define PENALTY 0
#else
#define PENALTY 50
#endif
int main(void) { printf("cycles: %d\n", 100 + abs(BLOCK - 48) + PENALTY); }
