// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "semantics.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ibv_ah *ah_to_self(struct loop_end *e)
{
	struct ibv_ah_attr a = {
		.is_global = 1, .port_num = 1, .grh = {.sgid_index = 5, .hop_limit = 9}};

	CHECK(!ibv_query_gid(e->ctx, 1, 5, &a.grh.dgid));
	return ibv_create_ah(e->pd, &a);
}

void t_ud(void)
{
	struct loop_conf c = loop_defaults;
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = 5, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_ah_attr back;
	struct loop_end a, b;
	struct ibv_wc wc;

	c.type = IBV_QPT_UD;
	loop_open(&a, &b, &c);
	strcpy(a.buf, "datagram");
	wr.wr.ud.ah = ah_to_self(&a);
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = 0x1234;
	end_recv(&b, 3, 0, 4096);
	CHECK(!end_send(&a, &wr, 0, 9));
	wc = end_wait(&b);
	CHECK(wc.byte_len == 49 && wc.wc_flags == (IBV_WC_GRH | IBV_WC_WITH_IMM) &&
	      wc.imm_data == 5 && wc.src_qp == a.qp->qp_num);
	CHECK(!strcmp(b.buf + 40, "datagram"));
	CHECK(b.buf[20] == 0x45 && b.buf[28] == 9 && b.buf[32] == 127);
	CHECK(!ibv_init_ah_from_wc(b.ctx, 1, &wc, (struct ibv_grh *)b.buf, &back));
	CHECK(back.grh.sgid_index == 5 && back.grh.dgid.raw[12] == 127);
	end_expect(&a, IBV_WC_SUCCESS);
	/* a wrong Q_Key, a full queue: lost without a word */
	wr.wr.ud.remote_qkey = 1;
	end_recv(&b, 4, 0, 4096);
	CHECK(!end_send(&a, &wr, 0, 9));
	end_expect(&a, IBV_WC_SUCCESS);
	CHECK(end_quiet(&b, 5));
	/* longer than a packet */
	CHECK(!end_send(&a, &wr, 0, 4097));
	end_expect(&a, IBV_WC_LOC_LEN_ERR);
	CHECK(end_state(&a) == IBV_QPS_SQE);
	CHECK(!ibv_destroy_ah(wr.wr.ud.ah));
	end_close(&a);
	end_close(&b);
}

static bool readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

void t_channel(void)
{
	struct loop_conf c = loop_defaults;
	struct loop_end a, b;
	struct ibv_cq *cq;
	void *context;
	int i;

	c.channel = true;
	loop_open(&a, &b, &c);
	for (i = 0; i < 100; i++) {
		CHECK(!ibv_req_notify_cq(b.cq, 0));
		CHECK(!readable(b.ch->fd, 0));
		end_recv(&b, i, 0, 64);
		CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 6));
		CHECK(readable(b.ch->fd, 1000));
		CHECK(!ibv_get_cq_event(b.ch, &cq, &context) && cq == b.cq);
		CHECK(!readable(b.ch->fd, 0));
		ibv_ack_cq_events(cq, 1);
		end_expect(&b, IBV_WC_SUCCESS);
		end_expect(&a, IBV_WC_SUCCESS);
	}
	/* only what is solicited, or failed */
	CHECK(!ibv_req_notify_cq(b.cq, 1));
	end_recv(&b, 1, 0, 64);
	end_recv(&b, 2, 0, 64);
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 6));
	CHECK(!readable(b.ch->fd, 0));
	CHECK(!end_send(
		&a, &(struct ibv_send_wr){.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SOLICITED},
		0, 6));
	CHECK(readable(b.ch->fd, 1000));
	CHECK(!ibv_get_cq_event(b.ch, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	CHECK(ibv_destroy_comp_channel(b.ch) == EBUSY);
	end_close(&a);
	end_close(&b);
}

void t_srq(void)
{
	struct ibv_srq_attr limit = {.srq_limit = 2};
	struct loop_conf c = loop_defaults;
	struct ibv_async_event ev;
	struct loop_end a, b;

	c.srq = true;
	loop_open(&a, &b, &c);
	CHECK(!ibv_modify_srq(b.srq, &limit, IBV_SRQ_LIMIT));
	end_recv(&b, 1, 0, 64);
	end_recv(&b, 2, 0, 64);
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 6));
	CHECK(end_wait(&b).wr_id == 1);
	CHECK(!ibv_get_async_event(b.ctx, &ev));
	CHECK(ev.event_type == IBV_EVENT_SRQ_LIMIT_REACHED && ev.element.srq == b.srq);
	ibv_ack_async_event(&ev);
	end_close(&a);
	end_close(&b);
}

/* The other end is not ready to receive, or expects another packet number. */
void t_no_answer(void)
{
	struct loop_conf c = loop_defaults;
	struct loop_end a, b;
	uint64_t t;

	c.timeout = 13; /* 33.6 ms, four times */
	c.mute = true;
	loop_open(&a, &b, &c);
	t = now_ms();
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 6));
	end_expect(&a, IBV_WC_RETRY_EXC_ERR);
	t = now_ms() - t;
	CHECK(t >= 130);
	end_close(&a);
	end_close(&b);
	c.mute = false;
	c.psn_skew = 1;
	loop_open(&a, &b, &c);
	CHECK(!end_send(&a, SEND(.opcode = IBV_WR_SEND), 0, 6));
	end_expect(&a, IBV_WC_RETRY_EXC_ERR);
	end_close(&a);
	end_close(&b);
}

void t_extended(void)
{
	struct ibv_cq_init_attr_ex cqa = {.cqe = 8, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN};
	struct loop_conf c = loop_defaults;
	struct loop_end a, b;
	struct ibv_qp_ex *qp;
	struct ibv_cq_ex *cq;

	c.extended = true;
	loop_open(&a, &b, &c);
	cq = ibv_create_cq_ex(a.ctx, &cqa);
	CHECK(cq && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	qp = ibv_qp_to_qp_ex(a.qp);
	CHECK(qp);
	end_recv(&b, 1, 0, 64);
	end_recv(&b, 2, 0, 64);
	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	qp->wr_id = 1;
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, "inline", 7);
	qp->wr_id = 2;
	ibv_wr_rdma_write_imm(qp, b.mr->rkey, (uintptr_t)b.buf + 100, 77);
	ibv_wr_set_sge(qp, a.mr->lkey, (uintptr_t)a.buf, 9);
	CHECK(end_quiet(&b, 2));
	CHECK(!ibv_wr_complete(qp));
	CHECK(end_wait(&a).wr_id == 1 && end_wait(&a).wr_id == 2);
	CHECK(!strcmp(b.buf, "inline"));
	CHECK(end_wait(&b).byte_len == 7 && end_wait(&b).imm_data == 77);
	/* an operation the QP was not made for; and nothing is sent */
	ibv_wr_start(qp);
	ibv_wr_rdma_read(qp, b.mr->rkey, (uintptr_t)b.buf);
	CHECK(ibv_wr_complete(qp) == EINVAL);
	end_close(&a);
	end_close(&b);
}

void t_dmabuf(void)
{
	int fd = memfd_create("gpu", MFD_CLOEXEC);
	struct loop_end a, b;
	struct ibv_send_wr wr;
	struct ibv_mr *mr;
	char *map;

	CHECK(fd >= 0 && !ftruncate(fd, 8192));
	loop_open(&a, &b, &loop_defaults);
	mr = ibv_reg_dmabuf_mr(b.pd, 4096, 4096, 0x1000, fd,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(mr && mr->addr == (void *)4096);
	CHECK(!ibv_reg_dmabuf_mr(b.pd, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE) && errno == EBADF);
	CHECK(!ibv_reg_dmabuf_mr(b.pd, 8, 4096, 0x1000, fd, 0) && errno == EINVAL);
	strcpy(a.buf, "to the GPU");
	wr = loop_rdma(&b, IBV_WR_RDMA_WRITE, 0);
	wr.wr.rdma.rkey = mr->rkey;
	wr.wr.rdma.remote_addr = 0x1008;
	CHECK(!end_send(&a, &wr, 0, 11));
	end_expect(&a, IBV_WC_SUCCESS);
	map = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(!strcmp(map + 4096 + 8, "to the GPU"));
	munmap(map, 8192);
	close(fd);
	CHECK(!ibv_dereg_mr(mr));
	end_close(&a);
	end_close(&b);
}

void t_mr(void)
{
	struct loop_end e;

	end_open(&e, &loop_defaults);
	CHECK(e.mr->lkey != e.mr->rkey);
	CHECK(!ibv_reg_mr(e.pd, e.buf, 64, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL);
	CHECK(!ibv_reg_mr(e.pd, (void *)0x1000, 64, 0) && errno == EFAULT);
	CHECK(ibv_dealloc_pd(e.pd) == EBUSY);
	CHECK(ibv_destroy_cq(e.cq) == EBUSY);
	end_close(&e);
}

struct card {
	uint32_t qpn, rkey;
	uint64_t addr;
};

/* The child's side: connect, say so, and sleep without another call. */
static void child(int in, int out)
{
	struct loop_conf c = loop_defaults;
	struct loop_end e;
	struct card mine, theirs;
	char byte;

	end_open(&e, &c);
	end_init(&e);
	mine = (struct card){e.qp->qp_num, e.mr->rkey, (uintptr_t)e.buf};
	CHECK(write(out, &mine, sizeof(mine)) == sizeof(mine));
	CHECK(read(in, &theirs, sizeof(theirs)) == sizeof(theirs));
	CHECK(!end_rtr(&e, theirs.qpn) && !end_rts(&e));
	CHECK(write(out, "r", 1) == 1);
	CHECK(read(in, &byte, 1) == 1); /* asleep meanwhile */
	CHECK(!strcmp(e.buf, "while you slept"));
	end_close(&e);
	exit(0);
}

struct other {
	pid_t pid;
	int to, from;
	struct card card;
};

static void with_child(struct other *o, struct loop_end *e, const struct loop_conf *c)
{
	int up[2], down[2];
	struct card mine = {0};
	char byte;

	CHECK(!pipe(up) && !pipe(down));
	o->pid = fork();
	if (!o->pid)
		child(down[0], up[1]);
	o->to = down[1];
	o->from = up[0];
	end_open(e, c);
	end_init(e);
	mine.qpn = e->qp->qp_num;
	CHECK(read(o->from, &o->card, sizeof(o->card)) == sizeof(o->card));
	CHECK(write(o->to, &mine, sizeof(mine)) == sizeof(mine));
	CHECK(!end_rtr(e, o->card.qpn) && !end_rts(e));
	CHECK(read(o->from, &byte, 1) == 1);
}

static int write_to(struct other *o, struct loop_end *e)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};

	strcpy(e->buf, "while you slept");
	wr.wr.rdma.remote_addr = o->card.addr;
	wr.wr.rdma.rkey = o->card.rkey;
	return end_send(e, &wr, 0, 16);
}

/* The memory of that process is mapped here. */
static bool is_mapped(pid_t pid)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], name[32];
	bool found = false;

	CHECK(maps);
	snprintf(name, sizeof(name), "/%d.", pid);
	while (fgets(line, sizeof(line), maps))
		found |= strstr(line, name) && strstr(line, ".seg0");
	fclose(maps);
	return found;
}

void t_passive(void)
{
	struct loop_end e;
	struct other o;
	int status;

	with_child(&o, &e, &loop_defaults);
	CHECK(!write_to(&o, &e));
	end_expect(&e, IBV_WC_SUCCESS);
	CHECK(write(o.to, "g", 1) == 1);
	CHECK(waitpid(o.pid, &status, 0) == o.pid && !status);
	CHECK(is_mapped(o.pid));
	end_close(&e);
	CHECK(!is_mapped(o.pid));
}

void t_death(void)
{
	struct loop_conf c = loop_defaults;
	struct loop_end e;
	struct ibv_cq *cq;
	struct other o;
	siginfo_t dead;
	void *context;
	uint64_t t;

	c.timeout = 13; /* 33.6 ms, four times */
	c.channel = true;
	with_child(&o, &e, &c);
	kill(o.pid, SIGKILL);
	CHECK(!waitid(P_PID, (id_t)o.pid, &dead, WEXITED | WNOWAIT)); /* it stays a zombie */
	CHECK(!ibv_req_notify_cq(e.cq, 0));
	t = now_ms();
	CHECK(!write_to(&o, &e));
	/* asleep on the channel, not polling */
	CHECK(!ibv_get_cq_event(e.ch, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	end_expect(&e, IBV_WC_RETRY_EXC_ERR);
	t = now_ms() - t;
	CHECK(t >= 130);
	CHECK(waitpid(o.pid, NULL, 0) == o.pid);
	end_close(&e);
	CHECK(!is_mapped(o.pid));
}
