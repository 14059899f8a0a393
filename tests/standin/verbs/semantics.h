/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cases of semantics that are in other files than semantics.c. */
#ifndef SIMVERBS_SEMANTICS_H
#define SIMVERBS_SEMANTICS_H

#include "loop.h"

#define SEND(...) (&(struct ibv_send_wr){.send_flags = IBV_SEND_SIGNALED, .wr_id = 7, __VA_ARGS__})

void t_ud(void);
void t_channel(void);
void t_srq(void);
void t_no_answer(void);
void t_extended(void);
void t_dmabuf(void);
void t_death(void);
void t_passive(void);
void t_mr(void);
void t_fetch_rights(void);
void t_fetch_shape(void);
void t_fetch_room(void);
void t_fetch_extended(void);

#endif
