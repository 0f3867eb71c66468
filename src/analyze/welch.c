/* Welch's t-test (welch.h). */
#include "analyze/welch.h"

#include <math.h>

#define ITERATIONS 300
#define PRECISION  1e-14
#define TINY	   1e-300

/* The continued fraction of the incomplete beta function, by Lentz' method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;

	d = 1 / (fabs(d) < TINY ? TINY : d);
	result = d;
	for (int i = 1; i <= ITERATIONS; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
		double factors[2] = {even, odd}, step = 1;

		for (int part = 0; part < 2; part++) {
			d = 1 + factors[part] * d;
			d = 1 / (fabs(d) < TINY ? TINY : d);
			c = 1 + factors[part] / c;
			c = fabs(c) < TINY ? TINY : c;
			step = d * c;
			result *= step;
		}
		if (fabs(step - 1) < PRECISION)
			break;
	}
	return result;
}

/* The regularised incomplete beta function of X from 0 to 1. */
static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double welch_probability(const struct welch_sample *a, const struct welch_sample *b)
{
	double of_a, of_b, both, t, freedom;

	if (a->count < 2 || b->count < 2)
		return NAN;
	of_a = a->stddev * a->stddev / (double)a->count;
	of_b = b->stddev * b->stddev / (double)b->count;
	both = of_a + of_b;
	if (both == 0)
		return a->mean == b->mean ? 1 : 0;
	t = (a->mean - b->mean) / sqrt(both);
	freedom = both * both /
		  (of_a * of_a / (double)(a->count - 1) + of_b * of_b / (double)(b->count - 1));
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}
