// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stat/beta.h"

#include <math.h>

#define STEPS_MAX 1000000
#define ERROR     1e-12

/* The term STEP, from 1, of the continued fraction 1 / (1 + term 1 / (1 + term 2 / (1 + ...))). */
static double fraction_term(int step, double a, double b, double x)
{
	double m = (double)(step / 2);

	if (step % 2)
		return -(a + m) * (a + b + m) * x / (a + 2 * m) / (a + 2 * m + 1);
	return m * (b - m) * x / (a + 2 * m - 1) / (a + 2 * m);
}

double beta_incomplete(double a, double b, double x)
{
	double c = 1, d = 0, f = 1, front;

	if (x <= 0 || x >= 1)
		return x > 0;
	/* Beyond, the fraction of the other side converges faster. */
	if (x > (a + 1) / (a + b + 2))
		return 1 - beta_incomplete(b, a, 1 - x);
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
	for (int step = 1; step < STEPS_MAX && fabs(c * d - 1) > ERROR; step++) {
		double term = fraction_term(step, a, b, x);

		d = 1 / (1 + term * d);
		c = 1 + term / c;
		f *= c * d;
	}
	return front / f;
}
