/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * before: what is wrong with a host and a port before any measurement. Pure functions of the facts,
 * in the order in which an expert checks. An unknown fact gives no finding.
 */
#pragma once

#include "explain/facts.h"
#include "finding/finding.h"
#include "explain/gpus.h"

/* Append the findings about the host, its GPUs and the ports of LIST, or the port X. */
void explain_host(const struct host_facts *h, struct findings *to);
void explain_gpus(const struct gpus *g, const struct hca_list *list, struct findings *to);
void explain_port(const struct port_facts *x, struct findings *to);
