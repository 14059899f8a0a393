/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* desc_word - the words of a device description */
#ifndef SIMVERBS_DESC_WORD_H
#define SIMVERBS_DESC_WORD_H

#include "desc.h"

/* Apply one word (which is cut up) to the device; 0, or -1 when unknown. */
int desc_word(struct desc_dev *d, char *word);

#endif
