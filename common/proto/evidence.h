/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * evidence: what an end's loops saw, as JSON for the protocol and the document: shares from 0 to 1,
 * times in us; unknown values are omitted.
 */
#pragma once

#include <jansson.h>

#include "base/evidence.h"
#include "base/fault.h"

json_t *evidence_to_json(const struct evidence *e);

/* Read the peer's values; missing ones are unknown. Raises FAULT_PEER for an impossible value. */
int evidence_from_json(struct evidence *e, const json_t *from, struct fault *f);
