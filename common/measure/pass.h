/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pass: runs the loops of a prepared round, and exchanges the results. */
#pragma once

#include "measure/measure.h"

int pass_run(struct measurement *meas);
