/* A library with functions whose names the call counter counts, for the test of the counter. */
#ifndef TESTS_JAX_ROCM_CALLED_H
#define TESTS_JAX_ROCM_CALLED_H

extern int hip_called_value;

double hipCalledSum(int a, int b, int c, int d, int e, int f, int g, double s, double t, double u,
		    double v, double w, double x, double y, double z);
int ncclCalled(void);
int __hipCalled(void);
/* The name that a C++ compiler gives hipCalledPlain(). */
int hipCalledPlain(void) __asm__("_Z14hipCalledPlainv");
int hipCalledByTable(void);
int hipCalledInside(void);
int called_otherwise(void);

#endif
