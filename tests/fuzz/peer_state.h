/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What peer.c, which plays the script, and seams.c, which stands in for the functions of the
 * program, have in common. There is one peer.
 */
#ifndef RDMARK_FUZZ_PEER_STATE_H
#define RDMARK_FUZZ_PEER_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "script.h"

#define STRANGERS_MAX 40

struct peer {
	pthread_mutex_t mutex;
	pthread_t main;
	struct fuzz_input script;
	bool silent, over;
	bool server;
	_Atomic unsigned polls, bad_poll; /* of CQs: calls so far, and the one that fails */
	_Atomic unsigned asleep;          /* is the thread that watches the run, in ppoll()? */
	_Atomic unsigned waits;           /* how often one has begun to; a futex */
	unsigned idle;                    /* calls since this end has answered all that was said */
	int fd;                           /* the peer's end of the connection, -1: none */
	int listener_fd; /* this end's listening socket, -1: this end is the client */
	int signal_fd;
	struct sockaddr_un listener;
	socklen_t listener_len;
	int stranger[STRANGERS_MAX];
	unsigned strangers;
	_Atomic uint64_t passed_ns; /* the time */
	_Atomic uint64_t read_ns;   /* the machine's, when it was read last */
};

extern struct peer peer;

/* Close *FD, if it is open, and make it -1. */
void peer_close(int *fd);

/* Send SIGNAL to the program, as a person would. */
void peer_signal(int signal);

/* The next step, and those at once behind it; false if there is none. */
bool peer_feed(void);

/*
 * True if this end has taken all that was said to it, and the thread that watches the run has
 * acted on it, and waits for more.
 */
bool peer_all_answered(void);

/* Leave peer_run() as if the process had died of SIGNAL. */
void peer_die(int signal) __attribute__((noreturn));

#endif
