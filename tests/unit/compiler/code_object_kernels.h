/* What the kernels and their test agree on. */
#ifndef CODE_OBJECT_KERNELS_H
#define CODE_OBJECT_KERNELS_H

struct three_floats {
	float x, y, z;
};
struct forty_bytes {
	int a[10];
};
struct mixed {
	float a;
	double b;
};
struct small {
	char c;
	int i;
};

enum { PARAMETERS = 22 };

#endif
