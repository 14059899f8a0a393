// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Completion channels and asynchronous events.
 *
 * Both are pipes with a name, so that any process of the fabric can put an
 * event in, and the program can poll(2) the descriptor.  One event is one
 * message; a read takes exactly one.
 */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c)
{
	struct sim_channel *ch;

	if (fault_call(FAULT_ibv_create_comp_channel))
		return NULL;
	ch = calloc(1, sizeof(*ch));
	if (!ch)
		return NULL;
	ch->ibv.context = c;
	/* null mode writes the eight byte address of the CQ */
	if (sim_conf()->null)
		ch->ibv.fd = eventfd(0, EFD_CLOEXEC);
	else
		ch->ibv.fd = peer_make_pipe(&ch->pipe);
	if (ch->ibv.fd < 0) {
		free(ch);
		return NULL;
	}
	atomic_fetch_add(&sim_ctx(c)->objects, 1);
	return &ch->ibv;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
	struct sim_channel *ch = (struct sim_channel *)ibv;
	int err = fault_call(FAULT_ibv_destroy_comp_channel);

	if (err)
		return err;
	if (ibv->refcnt)
		return EBUSY;
	if (sim_conf()->null)
		close(ibv->fd);
	else
		peer_drop_pipe(ibv->fd, ch->pipe);
	atomic_fetch_sub(&sim_ctx(ibv->context)->objects, 1);
	free(ch);
	return 0;
}

/* Read one message; 0, or -1 with errno. */
static int read_msg(int fd, struct pipe_msg *m)
{
	ssize_t n = read(fd, m, sizeof(*m));

	if (n == (ssize_t)sizeof(*m))
		return 0;
	if (n >= 0)
		errno = EIO;
	return -1;
}

static struct sim_cq *find_cq(const struct pipe_msg *m)
{
	struct sim_cq *cq = sim_tables.cq[m->idx % SHM_CQS];

	return cq && cq->shm->gen == m->gen ? cq : NULL;
}

static int null_event(struct ibv_comp_channel *ch, struct ibv_cq **cq)
{
	uint64_t v;

	/* one CQ per channel in null mode */
	if (read(ch->fd, &v, sizeof(v)) != sizeof(v))
		return -1;
	pthread_mutex_lock(&sim_tables.mutex);
	*cq = NULL;
	for (int i = 0; i < SHM_CQS && !*cq; i++)
		if (sim_tables.cq[i] && sim_tables.cq[i]->ex.channel == ch)
			*cq = ibv_cq_ex_to_cq(&sim_tables.cq[i]->ex);
	pthread_mutex_unlock(&sim_tables.mutex);
	return *cq ? 0 : -1;
}

int ibv_get_cq_event(struct ibv_comp_channel *ch, struct ibv_cq **out, void **cq_context)
{
	struct sim_cq *cq;
	struct pipe_msg m;

	if (fault_call(FAULT_ibv_get_cq_event))
		return -1;
	if (sim_conf()->null) {
		if (null_event(ch, out))
			return -1;
		*cq_context = (*out)->cq_context;
		((struct sim_cq *)*out)->comp_delivered++;
		return 0;
	}
	do {
		if (read_msg(ch->fd, &m))
			return -1;
		pthread_mutex_lock(&sim_tables.mutex);
		cq = find_cq(&m); /* NULL: destroyed meanwhile */
		if (cq)
			cq->comp_delivered++;
		pthread_mutex_unlock(&sim_tables.mutex);
	} while (!cq);
	*out = ibv_cq_ex_to_cq(&cq->ex);
	*cq_context = cq->ex.cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += n;
	pthread_cond_signal(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}

int chan_open_async(struct sim_context *ctx)
{
	int fd = peer_make_pipe(&ctx->async_pipe);

	if (fd < 0)
		return -1;
	ctx->v.context.async_fd = fd;
	return 0;
}

void chan_close_async(struct sim_context *ctx)
{
	peer_drop_pipe(ctx->v.context.async_fd, ctx->async_pipe);
}

/* Turn a message into an event; false when its object is gone. */
static bool resolve(const struct pipe_msg *m, struct ibv_async_event *ev)
{
	struct sim_srq *srq;
	struct sim_cq *cq;
	struct sim_qp *qp;

	ev->event_type = m->kind;
	switch (m->kind) {
	case IBV_EVENT_CQ_ERR:
		cq = find_cq(m);
		if (cq)
			cq->async_delivered++;
		ev->element.cq = cq ? ibv_cq_ex_to_cq(&cq->ex) : NULL;
		return cq != NULL;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		srq = sim_tables.srq[m->idx % SHM_SRQS];
		if (!srq || srq->shm->gen != m->gen)
			return false;
		srq->async_delivered++;
		ev->element.srq = &srq->ibv;
		return true;
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		ev->element.port_num = m->idx;
		return true;
	default:
		qp = sim_tables.qp[qpn_index(m->idx)];
		if (!qp || qp->ex.qp_base.qp_num != m->idx)
			return false;
		qp->async_delivered++;
		ev->element.qp = &qp->ex.qp_base;
		return true;
	}
}

int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *ev)
{
	struct pipe_msg m;
	bool found;

	if (fault_call(FAULT_ibv_get_async_event))
		return -1;
	do {
		if (read_msg(c->async_fd, &m))
			return -1;
		pthread_mutex_lock(&sim_tables.mutex);
		found = resolve(&m, ev);
		pthread_mutex_unlock(&sim_tables.mutex);
	} while (!found);
	return 0;
}

static void ack(pthread_mutex_t *m, pthread_cond_t *cond, uint32_t *count)
{
	pthread_mutex_lock(m);
	++*count;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(m);
}

void ibv_ack_async_event(struct ibv_async_event *ev)
{
	switch (ev->event_type) {
	case IBV_EVENT_CQ_ERR:
		ack(&ev->element.cq->mutex, &ev->element.cq->cond,
		    &ev->element.cq->async_events_completed);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		ack(&ev->element.srq->mutex, &ev->element.srq->cond,
		    &ev->element.srq->events_completed);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		ack(&ev->element.qp->mutex, &ev->element.qp->cond,
		    &ev->element.qp->events_completed);
		break;
	default:
		break;
	}
}
