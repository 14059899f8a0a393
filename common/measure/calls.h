/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls: which calls a stream posts and polls with: ibv_post_send and ibv_poll_cq, which every
 * device has, or ibv_wr_* and ibv_start_poll, which are faster on some. With --post-api auto the
 * warm-up of the first size tries both, and the result of a rail's first worker applies to all
 * workers of that rail.
 */
#pragma once

#include "measure/measure.h"

bool calls_are_chosen(const struct test *test);                  /* true if there is a choice */
void calls_set(struct meter *t, const struct measurement *meas); /* set the calls for its round */
void calls_choose(struct measure *ms); /* after the first warm-up: choose */
