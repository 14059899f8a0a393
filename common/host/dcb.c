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

/* The attribute KIND among SIZE bytes at AT; NULL: there is none. *GOT are the bytes of its value. */
static const void *find_attribute(const void *at, size_t size, uint16_t kind, size_t *got)
{
	const char *p = at;
	struct nlattr a;

	while (size >= sizeof(a)) {
		size_t step;

		memcpy(&a, p, sizeof(a));
		if (a.nla_len < sizeof(a) || a.nla_len > size)
			return NULL;
		if ((a.nla_type & NLA_TYPE_MASK) == kind) {
			*got = a.nla_len - sizeof(a);
			return p + sizeof(a);
		}
		step = NLA_ALIGN((size_t)a.nla_len);
		if (step > size)
			return NULL;
		p += step;
		size -= step;
	}
	return NULL;
}

int dcb_parse_pfc(struct dcb_pfc *pfc, const void *reply, size_t size)
{
	const char *at = reply;
	struct nlmsghdr h;
	struct ieee_pfc is;
	int error;

	memset(pfc, 0, sizeof(*pfc));
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
	at = at ? find_attribute(at, size, DCB_ATTR_IEEE_PFC, &size) : NULL;
	if (!at)
		return -EOPNOTSUPP;
	if (size < sizeof(is))
		return -EBADMSG;
	memcpy(&is, at, sizeof(is));
	pfc->enabled = is.pfc_en;
	memcpy(pfc->requests, is.requests, sizeof(pfc->requests));
	memcpy(pfc->indications, is.indications, sizeof(pfc->indications));
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

/* Read the numbers behind KEY in TEXT, up to COUNT, into TO. Returns false if KEY is not there. */
static bool read_numbers(const char *text, const char *key, uint64_t *to, size_t count)
{
	const char *at = strstr(text, key);
	char *end;

	if (!at)
		return false;
	at += strlen(key);
	for (size_t i = 0; i < count; i++) {
		to[i] = strtoull(at, &end, 0);
		if (end == at)
			return i > 0;
		at = end;
	}
	return true;
}

static int read_record(struct dcb_pfc *pfc, const char *netdev)
{
	char text[RECORD_BYTES];
	uint64_t enabled;
	ssize_t n = sysfs_read_raw(text, sizeof(text) - 1, "dcb/%s", netdev);

	if (n < 0)
		return n == -ENOENT ? -EOPNOTSUPP : (int)n;
	text[n] = '\0';
	if (!read_numbers(text, "pfc_en:", &enabled, 1) || enabled > UINT8_MAX)
		return -EBADMSG;
	pfc->enabled = (uint8_t)enabled;
	read_numbers(text, "requests:", pfc->requests, DCB_PRIORITIES);
	read_numbers(text, "indications:", pfc->indications, DCB_PRIORITIES);
	return 0;
}

int dcb_read_pfc(struct dcb_pfc *pfc, const char *netdev)
{
	memset(pfc, 0, sizeof(*pfc));
	if (strlen(netdev) >= IF_NAMESIZE || strchr(netdev, '/'))
		return -EINVAL;
	return sysfs_is_made_up() ? read_record(pfc, netdev) : read_live(pfc, netdev);
}
