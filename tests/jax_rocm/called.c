/* Functions that the call counter counts, and others that it must not count. */
#include "called.h"

int hip_called_value = 1;

/* Uses every register that can hold an argument, and the stack. */
double hipCalledSum(int a, int b, int c, int d, int e, int f, int g, double s, double t, double u,
		    double v, double w, double x, double y, double z)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + s + 2 * t + 3 * u + 4 * v +
	       5 * w + 6 * x + 7 * y + 8 * z;
}

int ncclCalled(void)
{
	return 1;
}

int __hipCalled(void)
{
	return 1;
}

int hipCalledPlain(void)
{
	return 1;
}

int hipCalledByTable(void)
{
	return 1;
}

/* Calls another function by its exported name; a library's call of itself is not counted. */
int hipCalledInside(void)
{
	return hipCalledPlain();
}

int called_otherwise(void)
{
	return 1;
}
