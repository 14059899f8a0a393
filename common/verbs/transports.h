/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * transports: which there are. A row is a transport: its word of -c, and its name, as in
 * transport_rc(), which its file defines. The enum, the words of -c, the pages and the schema follow
 * from these rows. Their order is that of the protocol, so a new one comes last; the first is the
 * default.
 */
#pragma once

#include "verbs/transport.h"

/* clang-format off */
#define TRANSPORTS(X) \
	X(RC, rc) \
	X(UC, uc) \
	X(UD, ud) \
	X(XRC, xrc) \
	X(SRD, srd)
/* clang-format on */

#define TRANSPORT_CONNECTION(word, name)  CONNECTION_##word,
#define TRANSPORT_DECLARATION(word, name) const struct transport *transport_##name(void);
#define TRANSPORT_WORD(word, name)        "|" #word

enum connection {
	TRANSPORTS(TRANSPORT_CONNECTION) CONNECTIONS
};

/* The words of -c, as an option's choice has them: "RC|UC". */
#define TRANSPORT_WORDS &(TRANSPORTS(TRANSPORT_WORD))[1]

/* transport_*.c */
TRANSPORTS(TRANSPORT_DECLARATION)
