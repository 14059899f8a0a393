/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * command_line: reads the command line, and derives from it what is known before anything is
 * opened.
 */
#pragma once

#include "session/program.h"

/* Set P's options, gates and repeat. Returns 0, or -1 with FAULT_USAGE in P's fault. */
int command_line_read(struct program *p, int argc, char **argv);

/* After that failed: say so in the file of --prom. */
void command_line_refused(struct program *p);

/*
 * Set P's options to POINT of its sweep. Returns 0, or -1 with FAULT_USAGE if they exclude each
 * other.
 */
int command_line_point(struct program *p, unsigned point);

/* Print notes about options of P's command line that have no effect. */
void command_line_notes(const struct program *p);
