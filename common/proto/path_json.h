/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path_json: a PCIe path (host/path.h) as JSON, for the peer and for the document: class, nic_link,
 * gpu_link and trained_down (pci, gts, width, max_gts, max_width), iommu, virtual_machine,
 * payload_bytes, ceiling_write_gbps, ceiling_read_gbps.
 */
#pragma once

#include <jansson.h>

#include "base/fault.h"
#include "host/path.h"

/* Returns a new object; unknown values are omitted. */
json_t *path_to_json(const struct path *p);

/* Read the peer's path. Missing values are unknown. Raises FAULT_PEER for a wrong type or range. */
int path_from_json(struct path *p, const json_t *from, struct fault *f);
