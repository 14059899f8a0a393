// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The names of ends and directions, in all output formats. */
#include "report/forms.h"

const char *forms_by(enum report_end by)
{
	static const char *const name[] = {"client", "server", "both"};

	return name[by];
}

const char *report_direction_name(enum report_direction direction)
{
	static const char *const name[] = {"client_to_server", "server_to_client", "both",
					   "ping_pong"};

	return name[direction];
}
