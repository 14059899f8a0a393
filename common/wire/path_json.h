/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path_json: a way over PCIe (host/path.h) as JSON, for the peer and for the document: class,
 * nic_link, gpu_link and trained_down (pci, gts, width, max_gts, max_width), iommu,
 * virtual_machine, payload_bytes, ceiling_write_gbps, ceiling_read_gbps.
 */
#ifndef RDMARK_WIRE_PATH_JSON_H
#define RDMARK_WIRE_PATH_JSON_H

#include <jansson.h>

#include "base/fault.h"
#include "host/path.h"

/* A new object; what is unknown is left out. */
json_t *path_to_json(const struct path *p);

/* Read what the peer sent. What is missing is unknown; a wrong type or range is the peer's fault.
 */
int path_from_json(struct path *p, const json_t *from, struct fault *f);

#endif
