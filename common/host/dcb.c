// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/dcb.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "host/sysfs.h"

#define REPLY_BYTES   16384u
#define REPLY_WAIT_US 10000 /* the kernel answers within the call */
#define RECORD_BYTES  4096u

enum { NO_PRIORITY = -1, SEVERAL_PRIORITIES = -2 };

static void clear(struct dcb_pfc *pfc)
{
	memset(pfc, 0, sizeof(*pfc));
	memset(pfc->dscp, NO_PRIORITY, sizeof(pfc->dscp));
}

/*
 * Take the attribute that *SIZE bytes at *AT begin with, and go on to the next one. Returns its
 * value of *GOT bytes and *KIND; NULL: there is none.
 */
static const void *next_attribute(const char **at, size_t *size, uint16_t *kind, size_t *got)
{
	const char *value = *at + sizeof(struct nlattr);
	struct nlattr a;
	size_t step;

	if (*size < sizeof(a))
		return NULL;
	memcpy(&a, *at, sizeof(a));
	if (a.nla_len < sizeof(a) || a.nla_len > *size)
		return NULL;
	*kind = a.nla_type & NLA_TYPE_MASK;
	*got = a.nla_len - sizeof(a);
	step = NLA_ALIGN((size_t)a.nla_len);
	step = step < *size ? step : *size;
	*at += step;
	*size -= step;
	return value;
}

/* The attribute KIND among SIZE bytes at AT; NULL: there is none. *GOT are the bytes of its value. */
static const void *find_attribute(const char *at, size_t size, uint16_t kind, size_t *got)
{
	const void *value;
	uint16_t is;

	while ((value = next_attribute(&at, &size, &is, got)))
		if (is == kind)
			return value;
	return NULL;
}

static void set_dscp(struct dcb_pfc *pfc, unsigned dscp, uint64_t priority)
{
	int8_t *to = &pfc->dscp[dscp], is = NO_PRIORITY;

	if (priority < DCB_PRIORITIES)
		is = (int8_t)priority;
	pfc->has_dscp |= is >= 0;
	*to = *to == NO_PRIORITY || *to == is ? is : SEVERAL_PRIORITIES;
}

/* Take the priorities of DSCPs from the table of SIZE bytes. */
static void read_table(struct dcb_pfc *pfc, const char *table, size_t size)
{
	const void *value;
	struct dcb_app app;
	uint16_t kind;
	size_t got;

	while ((value = next_attribute(&table, &size, &kind, &got))) {
		if (kind != DCB_ATTR_IEEE_APP || got < sizeof(app))
			continue;
		memcpy(&app, value, sizeof(app));
		if (app.selector == IEEE_8021QAZ_APP_SEL_DSCP && app.protocol < DCB_DSCPS)
			set_dscp(pfc, app.protocol, app.priority);
	}
}

int dcb_parse_pfc(struct dcb_pfc *pfc, const void *reply, size_t size)
{
	const char *at = reply, *table;
	size_t table_size;
	struct nlmsghdr h;
	struct ieee_pfc is;
	int error;

	clear(pfc);
	if (size < sizeof(h))
		return -EBADMSG;
	memcpy(&h, at, sizeof(h));
	if (h.nlmsg_len < NLMSG_HDRLEN || h.nlmsg_len > size)
		return -EBADMSG;
	at += NLMSG_HDRLEN;
	size = h.nlmsg_len - NLMSG_HDRLEN;
	if (h.nlmsg_type == NLMSG_ERROR && size >= sizeof(error)) {
		memcpy(&error, at, sizeof(error));
		return error < 0 && error > -4096 ? error : -EBADMSG;
	}
	if (h.nlmsg_type != RTM_GETDCB || size < NLMSG_ALIGN(sizeof(struct dcbmsg)))
		return -EBADMSG;
	at += NLMSG_ALIGN(sizeof(struct dcbmsg));
	size -= NLMSG_ALIGN(sizeof(struct dcbmsg));
	at = find_attribute(at, size, DCB_ATTR_IEEE, &size);
	table = at ? find_attribute(at, size, DCB_ATTR_IEEE_APP_TABLE, &table_size) : NULL;
	at = at ? find_attribute(at, size, DCB_ATTR_IEEE_PFC, &size) : NULL;
	if (!at)
		return -EOPNOTSUPP;
	if (size < sizeof(is))
		return -EBADMSG;
	memcpy(&is, at, sizeof(is));
	pfc->enabled = is.pfc_en;
	memcpy(pfc->requests, is.requests, sizeof(pfc->requests));
	memcpy(pfc->indications, is.indications, sizeof(pfc->indications));
	if (table)
		read_table(pfc, table, table_size);
	return 0;
}

struct question {
	struct nlmsghdr header;
	struct dcbmsg dcb;
	struct nlattr attribute;
	char netdev[IF_NAMESIZE];
};

/* Send Q on the socket FD and read the answer to it. */
static int ask(int fd, struct question *q, struct dcb_pfc *pfc)
{
	struct timeval limit = {.tv_usec = REPLY_WAIT_US};
	struct sockaddr_nl from = {.nl_family = AF_NETLINK};
	socklen_t from_size = sizeof(from);
	char *reply;
	ssize_t n;
	int rc;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	    sendto(fd, q, q->header.nlmsg_len, 0, (struct sockaddr *)&from, sizeof(from)) < 0)
		return -errno;
	reply = malloc(REPLY_BYTES);
	if (!reply)
		return -ENOMEM;
	n = recvfrom(fd, reply, REPLY_BYTES, 0, (struct sockaddr *)&from, &from_size);
	if (n < 0)
		rc = -errno;
	else
		rc = from.nl_pid ? -EBADMSG : dcb_parse_pfc(pfc, reply, (size_t)n);
	free(reply);
	return rc;
}

static int read_live(struct dcb_pfc *pfc, const char *netdev)
{
	size_t name = strlen(netdev) + 1;
	struct question q = {
		.header = {.nlmsg_len = (uint32_t)(offsetof(struct question, netdev) +
						   NLA_ALIGN(name)),
			   .nlmsg_type = RTM_GETDCB,
			   .nlmsg_flags = NLM_F_REQUEST,
			   .nlmsg_seq = 1},
		.dcb = {.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET},
		.attribute = {.nla_len = (uint16_t)(sizeof(struct nlattr) + name),
			      .nla_type = DCB_ATTR_IFNAME},
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), rc;

	if (fd < 0)
		return -errno;
	memcpy(q.netdev, netdev, name);
	rc = ask(fd, &q, pfc);
	close(fd);
	return rc;
}

/* Read the numbers behind KEY in TEXT, up to COUNT, into TO. Returns how many there are. */
static size_t read_numbers(const char *text, const char *key, uint64_t *to, size_t count)
{
	const char *at = strstr(text, key);
	char *end;

	if (!at)
		return 0;
	at += strlen(key);
	for (size_t i = 0; i < count; i++) {
		to[i] = strtoull(at, &end, 0);
		if (end == at)
			return i;
		at = end;
	}
	return count;
}

static int read_record(struct dcb_pfc *pfc, const char *netdev)
{
	char text[RECORD_BYTES];
	uint64_t enabled, priority[DCB_DSCPS];
	size_t dscps;
	ssize_t n = sysfs_read_raw(text, sizeof(text) - 1, "dcb/%s", netdev);

	if (n < 0)
		return n == -ENOENT ? -EOPNOTSUPP : (int)n;
	text[n] = '\0';
	if (!read_numbers(text, "pfc_en:", &enabled, 1) || enabled > UINT8_MAX)
		return -EBADMSG;
	pfc->enabled = (uint8_t)enabled;
	read_numbers(text, "requests:", pfc->requests, DCB_PRIORITIES);
	read_numbers(text, "indications:", pfc->indications, DCB_PRIORITIES);
	dscps = read_numbers(text, "dscp_prio:", priority, DCB_DSCPS);
	for (unsigned i = 0; i < dscps; i++)
		set_dscp(pfc, i, priority[i]);
	return 0;
}

int dcb_read_pfc(struct dcb_pfc *pfc, const char *netdev)
{
	clear(pfc);
	if (strlen(netdev) >= IF_NAMESIZE || strchr(netdev, '/'))
		return -EINVAL;
	return sysfs_is_made_up() ? read_record(pfc, netdev) : read_live(pfc, netdev);
}
