#include "hip_test.h"

void run_other(int *data);
void run_global(int *data, int amount);
__global__ void shared_kernel(int *data, int amount);
