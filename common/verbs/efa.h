/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * efa: what only Amazon's Elastic Fabric Adapters have, by libefa's calls, which are found at run
 * time: libibverbs has loaded that library where there is such a device. rdma-core's headers differ
 * in what they know, so the structures of its calls are declared here; tests/unit/test_transport.c
 * compares them.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdint.h>

#include "base/fault.h"

#define EFA_VENDOR 0x1d0fu

/* Bits of device_caps. */
#define EFA_READ      (1u << 0)
#define EFA_RNR_RETRY (1u << 1) /* a message that finds no receive is sent again */
#define EFA_WRITE     (1u << 3) /* and WRITE with immediate */

/* efadv_device_attr; all 0 if it is not known. */
struct efa_attr {
	uint64_t comp_mask;
	uint32_t max_sq_wr, max_rq_wr;
	uint16_t max_sq_sge, max_rq_sge, inline_buf_size, inline_buf_size_ex;
	uint32_t device_caps, max_rdma_size;
};

/* efadv_qp_init_attr of rdma-core 65; older ones accept it if what they do not know is 0. */
struct efa_qp_attr {
	uint64_t comp_mask;
	uint32_t driver_qp_type; /* 0: SRD */
	uint16_t flags;
	uint8_t sl, reserved;
	uint64_t wr_flags;
};

/* Ask CTX, an EFA. A is all 0 if it does not answer. */
void efa_query(struct ibv_context *ctx, struct efa_attr *a);

/* Raise FAULT_UNAVAILABLE if libefa's calls are missing. Returns 0 or -1. */
int efa_check(const char *device, struct fault *f);

/* A QP of SRD. NULL with errno. */
struct ibv_qp *efa_create_qp(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr);
