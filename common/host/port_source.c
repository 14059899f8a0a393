// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/port_source.h"

#include <math.h>
#include <string.h>

static const struct port_event_row port_events[PORT_EVENTS] = {
#define PORT_EVENT(symbol, name, unit, rule) {name, unit, rule},
#include "host/port_events.def"
#undef PORT_EVENT
};

/* clang-format off */
#define HW(event, file, ...)  {file, PORT_##event, PORT_HW, __VA_ARGS__}
#define PMA(event, file, ...) {file, PORT_##event, PORT_PMA, __VA_ARGS__}
#define NET(event, file)      {file, PORT_##event, PORT_NETDEV, 1}
#define PRIORITIES(event, before, behind)                                                          \
	NET(event, before "0" behind), NET(event, before "1" behind),                              \
	NET(event, before "2" behind), NET(event, before "3" behind),                              \
	NET(event, before "4" behind), NET(event, before "5" behind),                              \
	NET(event, before "6" behind), NET(event, before "7" behind)

static const struct port_source sources[] = {
	HW(LOSS_NAKS, "packet_seq_err"),                /* mlx5 */
	HW(LOSS_NAKS, "seq_err_naks_rcvd"),             /* bnxt_re */
	HW(LOSS_NAKS, "req_rx_pkt_seq_err"),            /* ionic */
	HW(LOSS_NAKS, "Nak Sequence Error"),            /* irdma */
	HW(LOSS_NAKS, "requester_oos_nak"),             /* mana */
	HW(LOSS_NAKS, "rcvd_seq_err"),                  /* rxe */
	HW(LOSS_NAKS, "sq_num_oos"),                    /* mlx4 */
	HW(LOSS_SEEN, "out_of_sequence"),               /* mlx5, bnxt_re */
	HW(LOSS_SEEN, "oos_drop_count"),                /* bnxt_re */
	HW(LOSS_SEEN, "resp_rx_outouf_seq"),            /* ionic */
	HW(LOSS_SEEN, "Rcvd Out of order packets"),     /* irdma */
	HW(LOSS_SEEN, "responder_oos"),                 /* mana */
	HW(LOSS_SEEN, "out_of_seq_request"),            /* rxe */
	HW(LOSS_SEEN, "rq_num_oos"),                    /* mlx4 */
	HW(ACK_TIMEOUT, "local_ack_timeout_err"),       /* mlx5 */
	HW(ACK_TIMEOUT, "to_retransmits"),              /* bnxt_re */
	HW(ACK_TIMEOUT, "tx_rdma_ack_timeout"),         /* ionic */
	HW(ACK_TIMEOUT, "RTO"),                         /* irdma */
	HW(ACK_TIMEOUT, "requester_timeout"),           /* mana */
	HW(ACK_TIMEOUT, "retrans_timeout_events"),      /* efa, which often resends without one */
	HW(ACK_TIMEOUT, "sq_num_to"),                   /* mlx4 */
	HW(RETRANSMITTED, "tx_rdma_retx_pkts", .counts_packets = true), /* ionic */
	HW(RETRANSMITTED, "RetransSegs", .counts_packets = true),       /* irdma */
	HW(RETRANSMITTED, "tcpRetransSegs", .counts_packets = true),    /* irdma, iWARP */
	HW(RETRANSMITTED, "completer_retry_err", .counts_restarts = true), /* rxe */
	HW(RETRANSMITTED, "roce_adp_retrans"),          /* mlx5, bnxt_re */
	HW(RNR_RECEIVED, "rnr_nak_retry_err"),          /* mlx5 */
	HW(RNR_RECEIVED, "rnr_naks_rcvd"),              /* bnxt_re */
	HW(RNR_RECEIVED, "req_rx_rnr_retry_err"),       /* ionic */
	HW(RNR_RECEIVED, "RNR received"),               /* irdma */
	HW(RNR_RECEIVED, "requester_rnr_nak"),          /* mana */
	HW(RNR_RECEIVED, "rcvd_rnr_err"),               /* rxe */
	HW(RNR_RECEIVED, "sq_num_rnr"),                 /* mlx4 */
	HW(NO_RECEIVE, "out_of_buffer"),                /* mlx5, bnxt_re */
	HW(NO_RECEIVE, "rx_out_of_buffer"),             /* bnxt_re */
	HW(NO_RECEIVE, "resp_rx_outof_buf"),            /* ionic */
	HW(NO_RECEIVE, "RNR sent"),                     /* irdma */
	HW(NO_RECEIVE, "responder_rnr_nak"),            /* mana */
	HW(NO_RECEIVE, "send_rnr_err"),                 /* rxe */
	HW(NO_RECEIVE, "rq_num_rnr"),                   /* mlx4 */
	HW(DEAD, "req_transport_retries_exceeded"),     /* mlx5 */
	HW(DEAD, "max_retry_exceeded"),                 /* bnxt_re */
	HW(DEAD, "req_tx_retry_excd_err"),              /* ionic */
	HW(DEAD, "requester_retries_exceeded"),         /* mana */
	HW(DEAD, "retry_exceeded_err"),                 /* rxe */
	HW(DEAD, "unresponsive_remote_events"),         /* efa */
	HW(DEAD, "sq_num_tree"),                        /* mlx4 */
	HW(DUPLICATE, "duplicate_request"),             /* mlx5, rxe */
	HW(DUPLICATE, "dup_req"),                       /* bnxt_re */
	HW(DUPLICATE, "responder_dup_request"),         /* mana */
	HW(DUPLICATE, "rq_num_dup"),                    /* mlx4 */
	HW(ECN_MARKED, "np_ecn_marked_roce_packets"),   /* mlx5, bnxt_re */
	HW(ECN_MARKED, "rx_ecn_marked_pkts"),           /* bnxt_re */
	HW(ECN_MARKED, "rx_rdma_ecn_pkts"),             /* ionic */
	HW(ECN_MARKED, "RxECNMrkd"),                    /* irdma */
	{"received_ecns", PORT_ECN_MARKED, PORT_DEVICE, 1}, /* mana */
	HW(CNP_SENT, "np_cnp_sent"),                    /* mlx5, bnxt_re */
	HW(CNP_SENT, "tx_cnp_pkts"),                    /* bnxt_re */
	HW(CNP_SENT, "tx_rdma_cnp_pkts"),               /* ionic */
	HW(CNP_SENT, "cnpSent"),                        /* irdma */
	{"sent_cnps", PORT_CNP_SENT, PORT_DEVICE, 1},   /* mana */
	HW(CNP_HANDLED, "rp_cnp_handled"),              /* mlx5, bnxt_re */
	HW(CNP_HANDLED, "rx_cnp_pkts"),                 /* bnxt_re */
	HW(CNP_HANDLED, "rx_rdma_cnp_pkts"),            /* ionic */
	HW(CNP_HANDLED, "cnpHandled"),                  /* irdma */
	HW(CNP_HANDLED, "received_cnps"),               /* mana */
	HW(CNP_IGNORED, "rp_cnp_ignored"),              /* mlx5 */
	HW(CNP_IGNORED, "cnpIgnored"),                  /* irdma */
	HW(CRC, "rx_icrc_encapsulated"),                /* mlx5 */
	HW(CRC, "CRC errors"),                          /* irdma */
	PMA(LINK_DOWNED, "link_downed"),
	HW(LINK_DOWNED, "link_downed"),                 /* rxe */
	NET(LINK_DOWNED, "link_down_events_phy"),       /* mlx5 */
	PMA(SYMBOL_ERROR, "symbol_error"),
	NET(SYMBOL_ERROR, "rx_pcs_symbol_err_phy"),     /* mlx5 */
	PMA(RCV_ERRORS, "port_rcv_errors"),
	HW(RCV_ERRORS, "rx_roce_errors"),               /* bnxt_re: of any kind, not of the ICRC alone */
	PMA(XMIT_DISCARDS, "port_xmit_discards"),
	PMA(XMIT_WAIT, "port_xmit_wait"),
	PMA(SENT_BYTES, "port_xmit_data", 4),           /* counts words of 4 bytes */
	HW(SENT_BYTES, "tx_bytes"),                     /* bnxt_re, efa, mana */
	PMA(RECEIVED_BYTES, "port_rcv_data", 4),
	HW(RECEIVED_BYTES, "rx_bytes"),                 /* bnxt_re, efa, mana */
	PMA(SENT_PACKETS, "port_xmit_packets"),
	HW(SENT_PACKETS, "tx_pkts"),                    /* bnxt_re, efa, mana */
	HW(SENT_PACKETS, "sent_pkts"),                  /* rxe */
	PRIORITIES(PAUSE_RECEIVED_US, "rx_prio", "_pause_duration"), /* mlx5 */
	NET(PAUSE_RECEIVED_US, "rx_global_pause_duration"),
	PRIORITIES(PAUSE_RECEIVED_US, "pfc_pri", "_rx_duration_us"), /* bnxt */
	PRIORITIES(PAUSE_RECEIVED_US, "rx_pripause_", "_1us_count"), /* ionic */
	PRIORITIES(PAUSE_SENT_US, "tx_prio", "_pause_duration"),     /* mlx5 */
	NET(PAUSE_SENT_US, "tx_global_pause_duration"),
	PRIORITIES(PAUSE_SENT_US, "pfc_pri", "_tx_duration_us"),     /* bnxt */
	PRIORITIES(PAUSE_SENT_US, "tx_pripause_", "_1us_count"),     /* ionic */
	PRIORITIES(PAUSE_FRAMES_RECEIVED, "rx_prio", "_pause"),      /* mlx5 */
	NET(PAUSE_FRAMES_RECEIVED, "rx_global_pause"),
	PRIORITIES(PAUSE_FRAMES_RECEIVED, "rx_pfc_ena_frames_pri", ""),       /* bnxt */
	PRIORITIES(PAUSE_FRAMES_RECEIVED, "rx_priority_", "_xoff.nic"),       /* ice */
	PRIORITIES(PAUSE_FRAMES_RECEIVED, "mac_rx_pfc_pri", "_pkt_num"),      /* hns */
	NET(PAUSE_FRAMES_RECEIVED, "mac_rx_mac_pause_num"),                   /* hns */
	PRIORITIES(PAUSE_FRAMES_SENT, "tx_prio", "_pause"),                   /* mlx5 */
	NET(PAUSE_FRAMES_SENT, "tx_global_pause"),
	PRIORITIES(PAUSE_FRAMES_SENT, "tx_pfc_ena_frames_pri", ""),           /* bnxt */
	PRIORITIES(PAUSE_FRAMES_SENT, "tx_priority_", "_xoff.nic"),           /* ice */
	PRIORITIES(PAUSE_FRAMES_SENT, "mac_tx_pfc_pri", "_pkt_num"),          /* hns */
	NET(PAUSE_FRAMES_SENT, "mac_tx_mac_pause_num"),                       /* hns */
	NET(FCS_ERRORS, "rx_crc_errors_phy"),           /* mlx5 */
	NET(FCS_ERRORS, "mac_rx_fcs_err_pkt_num"),      /* hns */
	NET(NIC_DISCARDS, "rx_discards_phy"),           /* mlx5 */
	HW(NIC_DISCARDS, "rx_roce_discards"),           /* bnxt_re */
	HW(NIC_DISCARDS, "rx_drops"),                   /* efa */
	NET(PCI_STALLED_RD_PERCENT, "outbound_pci_stalled_rd"),
	NET(PCI_STALLED_WR_PERCENT, "outbound_pci_stalled_wr"),
	NET(PCI_STALLED_RD_S, "outbound_pci_stalled_rd_events"),
	NET(PCI_STALLED_WR_S, "outbound_pci_stalled_wr_events"),
	NET(PCI_OVERFLOW, "outbound_pci_buffer_overflow"),
	HW(RATE_LIMITED, "tx_bps_limit_drop_cnt"), HW(RATE_LIMITED, "tx_pps_limit_drop_cnt"), /* erdma */
	HW(RATE_LIMITED, "rx_bps_limit_drop_cnt"), HW(RATE_LIMITED, "rx_pps_limit_drop_cnt"),
	{"aer_dev_correctable", PORT_PCI_CORRECTABLE, PORT_AER, 1},
	{"aer_dev_nonfatal", PORT_PCI_NONFATAL, PORT_AER, 1},
	{"aer_dev_fatal", PORT_PCI_FATAL, PORT_AER, 1},
	{"aer_dev_correctable", PORT_UPSTREAM_CORRECTABLE, PORT_AER_UPSTREAM, 1},
	{"aer_dev_nonfatal", PORT_UPSTREAM_NONFATAL, PORT_AER_UPSTREAM, 1},
	{"aer_dev_fatal", PORT_UPSTREAM_FATAL, PORT_AER_UPSTREAM, 1},
	{.name = NULL},
};
/* clang-format on */

static const struct port_known_row known_names[PORT_KNOWN_KINDS] = {
#define PORT_KNOWN(symbol, name, text) {name, text},
#include "host/port_events.def"
#undef PORT_KNOWN
};

const struct port_source *port_sources(void)
{
	return sources;
}

const struct port_event_row *port_event_row(enum port_event event)
{
	return &port_events[event];
}

enum port_event port_event_find(const char *name)
{
	int i = 0;

	while (i < PORT_EVENTS && strcmp(port_events[i].name, name) != 0)
		i++;
	return i;
}

/* EVENT's source of that NAME; NULL: there is none. */
static const struct port_source *find_source(enum port_event event, const char *name)
{
	for (const struct port_source *s = sources; s->name; s++)
		if (s->event == event && strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

const char *port_event_own(enum port_event event, const char *name)
{
	const struct port_source *s = find_source(event, name);

	return s ? s->name : NULL;
}

const struct port_known_row *port_known_row(enum port_known known)
{
	return &known_names[known];
}

enum port_known port_known_find(const char *name)
{
	int i = 0;

	while (i < PORT_KNOWN_KINDS && strcmp(known_names[i].name, name) != 0)
		i++;
	return i;
}

struct port_change port_snapshot_event(const struct port_snapshot *s, enum port_event event)
{
	struct port_change all = s->ports ? s->port[0].event[event] : (struct port_change){0};
	bool sums = port_event_row(event)->rule < PORT_LARGEST;

	for (unsigned i = 1; i < s->ports; i++) {
		const struct port_change *c = &s->port[i].event[event];

		if (!port_change_is_known(c))
			continue;
		if (!port_change_is_known(&all) || (!sums && c->change > all.change)) {
			all = *c;
		} else if (sums) {
			all.change += c->change;
			all.known = all.known > c->known ? all.known : c->known;
		}
	}
	return all;
}

double port_snapshot_value(const struct port_snapshot *s, enum port_event event)
{
	struct port_change c = port_snapshot_event(s, event);

	return port_change_is_known(&c) ? (double)c.change : NAN;
}

/* The source of EVENT that S's ports have; NULL: none. */
static const struct port_source *source_of(const struct port_snapshot *s, enum port_event event)
{
	const char *own = port_snapshot_event(s, event).own;

	return own ? find_source(event, own) : NULL;
}

/* The sum of those of COUNT events that are known; NaN: none is. */
static double sum_events(const struct port_snapshot *s, const enum port_event *event, size_t count)
{
	double sum = NAN;

	for (size_t i = 0; i < count; i++) {
		double n = port_snapshot_value(s, event[i]);

		if (!isnan(n))
			sum = (isnan(sum) ? 0 : sum) + n;
	}
	return sum;
}

/* How often S's ports began again for any cause but a receiver that was not ready; NaN: unknown. */
static double restarts(const struct port_snapshot *s)
{
	const struct port_source *source = source_of(s, PORT_RETRANSMITTED);
	double not_ready = port_snapshot_value(s, PORT_RNR_RECEIVED);
	double all = port_snapshot_value(s, PORT_RETRANSMITTED);

	if (!source || !source->counts_restarts || isnan(all))
		return NAN;
	return fmax(0, all - fmax(not_ready, 0));
}

double port_snapshot_resent(const struct port_snapshot *s, bool *packets)
{
	static const enum port_event causes[] = {PORT_RETRANSMITTED, PORT_LOSS_NAKS,
						 PORT_ACK_TIMEOUT};
	const struct port_source *source = source_of(s, PORT_RETRANSMITTED);

	*packets = source && source->counts_packets;
	if (source && source->counts_restarts)
		return restarts(s);
	return sum_events(s, causes, *packets ? 1 : sizeof(causes) / sizeof(causes[0]));
}

double port_snapshot_naks(const struct port_snapshot *s, const struct port_snapshot *peer)
{
	double counted = port_snapshot_value(s, PORT_LOSS_NAKS);
	double gaps = port_snapshot_value(peer, PORT_LOSS_SEEN);

	/* more gaps than restarts: others send to this peer, too */
	if (isnan(restarts(s)) || !(gaps <= restarts(s)))
		return counted;
	return fmax(counted, gaps);
}

double port_snapshot_timeouts(const struct port_snapshot *s, const struct port_snapshot *peer)
{
	double counted = port_snapshot_value(s, PORT_ACK_TIMEOUT);

	if (!isnan(counted) || isnan(restarts(s)))
		return counted;
	return fmax(0, restarts(s) - fmax(port_snapshot_naks(s, peer), 0));
}

double port_snapshot_lost(const struct port_snapshot *s)
{
	static const enum port_event losses[] = {PORT_CRC, PORT_NIC_DISCARDS, PORT_RCV_ERRORS,
						 PORT_XMIT_DISCARDS};

	return sum_events(s, losses, sizeof(losses) / sizeof(losses[0]));
}
