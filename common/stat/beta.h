/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* beta: the incomplete beta function, from which Student's t and the binomial distribution follow.
 */
#pragma once

/*
 * The regularized incomplete beta function I_x(A, B), A and B above 0: by Lentz's evaluation of its
 * continued fraction (Abramowitz and Stegun 26.5.8), which takes about sqrt(max(A, B)) steps. The
 * relative error is below 1e-5 for A and B up to 1e10.
 */
double beta_incomplete(double a, double b, double x);
