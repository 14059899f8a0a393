/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* names - errno and completion status by name, as users write them */
#ifndef SIMVERBS_NAMES_H
#define SIMVERBS_NAMES_H

/* "ENOMEM" or "12"; -1 when unknown. */
int name_errno(const char *name);

/* "RETRY_EXC_ERR", "IBV_WC_RETRY_EXC_ERR" or "12"; -1 when unknown. */
int name_status(const char *name);

#endif
