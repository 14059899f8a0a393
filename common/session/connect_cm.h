/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connect_cm: connects the QPs through rdma_cm with -R; without -R the functions do nothing. The
 * server listens and adds its address to WELCOME. The client reads it. Then both call connect_cm()
 * and wait until their QPs are connected. If the client is connected first, its "qps" message may
 * arrive meanwhile: the server returns it in *QPS; the client passes NULL.
 */
#pragma once

#include "endpoint/endpoint.h"
#include "measure/link.h"

int connect_cm_listen(struct endpoint *ep, json_t *welcome);
int connect_cm_aim(struct endpoint *ep, const json_t *welcome);
int connect_cm(struct endpoint *ep, struct link *l, json_t **qps);
