// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "peer.h"

#include <setjmp.h>
#include <signal.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "peer_state.h"

struct peer peer = {.mutex = PTHREAD_MUTEX_INITIALIZER, .fd = -1, .listener_fd = -1, .signal_fd = -1};

void peer_start(const struct fuzz_input *script, bool silent, unsigned bad_poll)
{
	peer.main = pthread_self();
	peer.script = *script;
	peer.silent = silent;
	peer.over = false;
	peer.polls = 0;
	peer.bad_poll = bad_poll;
	peer.idle = 0;
	peer.server = false;
}

void peer_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void peer_end(void)
{
	peer_close(&peer.fd);
	peer_close(&peer.signal_fd);
	peer.listener_fd = -1;
	while (peer.strangers)
		close(peer.stranger[--peer.strangers]);
}

/* A new connection to the server's listener, -1 if nobody listens any more. */
static int knock(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd >= 0 && (peer.listener_fd < 0 ||
			connect(fd, (struct sockaddr *)&peer.listener, peer.listener_len)))
		peer_close(&fd);
	return fd;
}

/* Take what this end has sent, so that it never finds the connection full. */
static void listen_to(int fd)
{
	char buf[4096];

	while (fd >= 0 && recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
}

static void say(const struct script_step *step)
{
	if (peer.fd < 0 && peer.listener_fd >= 0)
		peer.fd = knock();
	if (peer.fd < 0 || send(peer.fd, step->bytes, step->size, MSG_NOSIGNAL) >= 0 ||
	    peer.listener_fd < 0)
		return;
	/* The server has dropped us: again, as another client. */
	peer_close(&peer.fd);
	peer.fd = knock();
	if (peer.fd >= 0)
		send(peer.fd, step->bytes, step->size, MSG_NOSIGNAL);
}

void peer_signal(int signal)
{
	struct signalfd_siginfo info = {.ssi_signo = (uint32_t)signal};

	if (peer.signal_fd >= 0 && write(peer.signal_fd, &info, sizeof(info)) < 0)
		peer.over = true;
}

static void do_step(const struct script_step *step)
{
	int fd;

	switch (step->kind) {
	case SCRIPT_SEND:
		say(step);
		break;
	case SCRIPT_SIGNAL:
		peer_signal(SIGTERM);
		break;
	case SCRIPT_STRANGER:
		fd = peer.strangers < STRANGERS_MAX ? knock() : -1;
		if (fd < 0)
			break;
		peer.stranger[peer.strangers++] = fd;
		send(fd, step->bytes, step->size, MSG_NOSIGNAL);
	}
}

bool peer_feed(void)
{
	struct script_step step;
	bool fed = false;

	pthread_mutex_lock(&peer.mutex);
	listen_to(peer.fd);
	if (!peer.over) {
		fed = true;
		do {
			if (!script_next(&peer.script, &step))
				break;
			do_step(&step);
			script_release(&step);
		} while (peer.script.left && *peer.script.at == '>');
		peer.over = !peer.script.left;
		if (peer.over && !peer.silent && peer.fd >= 0)
			shutdown(peer.fd, SHUT_WR);
	}
	pthread_mutex_unlock(&peer.mutex);
	return fed;
}

/* Has this end taken all that was said to it? */
static bool all_taken(void)
{
	int bytes = 0;

	return peer.fd < 0 || ioctl(peer.fd, SIOCOUTQ, &bytes) || bytes == 0;
}

/*
 * True if the other thread also acted on it, and waits for more. It leaves ppoll()
 * before it takes anything, so the order of the questions matters.
 */
bool peer_all_answered(void)
{
	return all_taken() && peer.asleep;
}

static jmp_buf died; /* where peer_die() returns to */

int peer_run(int (*main_of)(int argc, char **argv), int argc, char **argv)
{
	int signal = setjmp(died);

	return signal ? 128 + signal : main_of(argc, argv);
}

void peer_die(int signal)
{
	longjmp(died, signal);
}
