/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* notify: tell the service manager that the program is ready, as in sd_notify(3). */
#ifndef RDMARK_HOST_NOTIFY_H
#define RDMARK_HOST_NOTIFY_H

/*
 * Send STATE ("READY=1") to the socket in NOTIFY_SOCKET, if there is one. Nobody waits for it, so a
 * failure is no concern of the program.
 */
void notify_send(const char *state);

#endif
