/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* json_text: any bytes as a JSON string. */
#ifndef RDMARK_WIRE_JSON_TEXT_H
#define RDMARK_WIRE_JSON_TEXT_H

#include <jansson.h>

/*
 * A new JSON string of TEXT. What is no UTF-8 (a strange file name, a text cut in the middle of a
 * character) has its bytes above 127 replaced by '?': jansson would refuse it, and with it the
 * whole message.
 */
json_t *json_text(const char *text);

#endif
