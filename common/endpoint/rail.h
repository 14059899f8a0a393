/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rail: a device port of this end, and the path to the peer's. Rail I is connected to the peer's
 * rail I. Functions return and raise as those of endpoint.h.
 */
#pragma once

#include "endpoint/endpoint.h"
#include "host/port_events.h"
#include "proto/end.h"
#include "verbs/hca.h"
#include "verbs/qp.h"

struct rail {
	struct hca hca;
	struct qp_route route;
	union ibv_gid gid; /* of this end, at route.gid_index */
	struct end mine, theirs;
	struct port_events events;
};

static inline bool rail_is_iwarp(const struct rail *r)
{
	return r->hca.info.fabric == FABRIC_IWARP;
}

/* This end of it, or with MINE false the other one. */
static inline const struct end *rail_end(const struct rail *r, bool mine)
{
	return mine ? &r->mine : &r->theirs;
}

/*
 * rail.c: choose a port of the DEVICE (NULL: any), of LIST, which the caller frees, also if it is
 * NULL, with the fault raised; and write why; choose and open the device that TEXT names.
 */
const struct hca_port *rail_choose(const struct endpoint *ep, const char *device,
				   struct hca_list *list, char *reason, size_t size);
int rail_open(struct endpoint *ep, struct rail *r, const char *text);
/* Raise that P has no GID at the index of -x. Returns -1. */
int rail_refuse_gid(const struct endpoint *ep, const struct hca_port *p);
/* List the kinds of this end's GIDs in order of preference; and use the one that was agreed on. */
size_t rail_gid_kinds(struct endpoint *ep, const struct rail *r, enum gid_kind kinds[GID_KINDS]);
int rail_use_gid(struct endpoint *ep, struct rail *r, enum gid_kind kind);
void rail_describe_gid(struct rail *r, const struct gid *g, const char *chosen);
/* The prefix of an InfiniBand port's GID 0, "" if it has none; and whether R's packets have a GRH. */
void rail_subnet(const struct rail *r, char *buf, size_t size);
bool rail_is_global(const struct endpoint *ep, const struct rail *r);
/* Add to F's cause between which two ports of EP's worker that failed, or else the first one. */
void rail_name_ends(const struct endpoint *ep, struct fault *f);
/* True if a port is on both ends: their host is one. */
bool rail_shared(const struct endpoint *ep);
/* The largest MTU of this end, in bytes. */
unsigned rail_mtu(const struct endpoint *ep, const struct rail *r);

/*
 * rail_route.c: check that the port fits --force-link and --dlid; read the key of --pkey_index (0:
 * not given); the key at index 0, which an InfiniBand port uses if nobody chooses (0: none, or
 * rdma_cm chooses); find the index of the partition of THEIRS, the key that the peer chose, or else
 * of the one BY_DEFAULT (0: none); set the route from the options.
 */
int rail_check_link(struct endpoint *ep, const struct rail *r);
int rail_pkey(struct endpoint *ep, const struct rail *r, uint16_t *key);
uint16_t rail_default_pkey(const struct endpoint *ep, const struct rail *r);
int rail_agree_on_pkey(struct endpoint *ep, struct rail *r, uint16_t theirs, uint16_t by_default);
void rail_set_route(struct endpoint *ep, struct rail *r);
/* The maximum of outstanding READs and atomics that this end supports; and that of both ends. */
struct operation_depth rail_reads(const struct endpoint *ep, const struct rail *r);
void rail_agree_on_reads(struct endpoint *ep, struct rail *r, const struct operation_depth *theirs);
