/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* notify: tells the service manager that the program is ready, as sd_notify(3) does. */
#pragma once

/* Send STATE ("READY=1") to the socket in NOTIFY_SOCKET, if it is set. Failures are ignored. */
void notify_send(const char *state);
