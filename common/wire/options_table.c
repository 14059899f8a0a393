// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "wire/options.h"

#include <string.h>

#define E(member) offsetof(struct options, experiment.member)
#define L(member) offsetof(struct options, local.member)
#define O(member) offsetof(struct options, output.member)

#define NUMBER_MAX  UINT32_MAX
#define SECONDS_MAX (UINT64_C(366) * 86400 * 1000000000)

/* clang-format off */
#define EXPERIMENT(name, letter, kind, field, min, max, value, help) \
	{name, letter, OPTION_##kind, SCOPE_EXPERIMENT, E(field), min, max, value, help}
#define LOCAL(name, letter, kind, field, min, max, value, help) \
	{name, letter, OPTION_##kind, SCOPE_LOCAL, L(field), min, max, value, help}
#define OUTPUT(name, letter, kind, field, min, max, value, help) \
	{name, letter, OPTION_##kind, SCOPE_OUTPUT, O(field), min, max, value, help}
#define ADVICE(name, letter, advice) {name, letter, OPTION_NONE, SCOPE_ADVICE, 0, 0, 0, NULL, advice}
/* Of gdr_bw alone. */
#define GDR(scope, name, kind, member, min, max, value, help) \
	{name, 0, OPTION_##kind, SCOPE_##scope, member, min, max, value, help, "gdr_bw"}

static const struct option_row table[] = {
	EXPERIMENT("size", 's', SIZE, size_bytes, 1, UINT64_C(1) << 40, "BYTES", "message size"),
	EXPERIMENT("all", 'a', FLAG, sweep, 0, 1, NULL, "all sizes from 2 B to 8 MiB, in powers of two"),
	EXPERIMENT("iters", 'n', NUMBER, iters, 1, UINT64_C(1) << 48, "N", "messages to measure, for each QP"),
	EXPERIMENT("duration", 'D', SECONDS, duration_ns, 1, SECONDS_MAX, "S", "measure for S seconds instead"),
	EXPERIMENT("warmup", 0, NUMBER, warmup, 0, NUMBER_MAX, "N", "messages before the clock, for each QP"),
	EXPERIMENT("qp", 'q', NUMBER, qps, 1, 65536, "N", "number of QPs, of each thread"),
	EXPERIMENT("threads", 0, NUMBER, threads, 1, 1024, "N", "threads for each device, each with a CPU and QPs of its own"),
	EXPERIMENT("bidirectional", 'b', FLAG, bidirectional, 0, 1, NULL, "bandwidth: both ends send at once"),
	EXPERIMENT("reversed", 0, FLAG, reversed, 0, 1, NULL, "bandwidth: the server sends"),
	EXPERIMENT("tx-depth", 't', NUMBER, tx_depth, 1, 65536, "N", "depth of the send queue of each QP"),
	EXPERIMENT("rx-depth", 'r', NUMBER, rx_depth, 1, 65536, "N", "depth of the receive queue of each QP, or of the shared one"),
	EXPERIMENT("post_list", 'l', NUMBER, post_list, 1, 65536, "N", "work requests in one post"),
	EXPERIMENT("cq-mod", 'Q', NUMBER, cq_mod, 1, 65536, "N",
		   "one completion for N work requests, at most a quarter of the send queue"),
	EXPERIMENT("mtu", 'm', NUMBER, mtu_bytes, 256, 4096, "BYTES", "path MTU: 256, 512, 1024, 2048 or 4096"),
	EXPERIMENT("inline_size", 'I', NUMBER, inline_bytes, 0, 65536, "BYTES",
		   "messages up to this size travel in the work request"),
	EXPERIMENT("connection", 'c', CHOICE, connection, 0, 2, "RC|UC|UD", "transport; messages of UC and UD may be lost"),
	EXPERIMENT("events", 'e', FLAG, events, 0, 1, NULL, "sleep until completions come instead of polling for them"),
	EXPERIMENT("use-srq", 0, FLAG, use_srq, 0, 1, NULL, "one receive queue for all QPs of a thread"),
	EXPERIMENT("own-cqs", 0, FLAG, own_cqs, 0, 1, NULL, "completion queues for each QP instead of one for all"),
	EXPERIMENT("sl", 'S', NUMBER, sl, 0, 15, "N", "service level"),
	EXPERIMENT("tos", 'T', NUMBER, tos, 0, 255, "N", "traffic class of RoCE packets (DSCP << 2)"),
	EXPERIMENT("qp-timeout", 'u', NUMBER, qp_timeout, 0, 31, "N", "ACK timeout, 4.096 us << N; 0 waits for ever"),
	EXPERIMENT("disable_pcie_relaxed", 0, FLAG, strict_order, 0, 1, NULL, "without PCIe relaxed ordering"),
	GDR(EXPERIMENT, "plain", FLAG, E(plain), 0, 1, NULL, "one row as write_bw prints it, instead of all cells; --use_cuda implies it"),
	GDR(EXPERIMENT, "windows", NUMBER, E(windows), 1, 1000, "N", "windows for each cell, interleaved with the others"),
	GDR(EXPERIMENT, "staged-chunk", SIZE, E(staged_chunk_bytes), 4096, UINT64_C(1) << 30, "BYTES", "piece that a staged cell copies at once"),
	GDR(EXPERIMENT, "staged-slots", NUMBER, E(staged_slots), 2, 64, "N", "pieces that a staged cell has under way"),

	LOCAL("ib-dev", 'd', TEXT, device, 0, 0, "DEV", "RDMA device: name, netdev, IP, GUID or PCI address; several by comma are used at once"),
	LOCAL("ib-port", 'i', NUMBER, ib_port, 1, 255, "N", "port of the device"),
	LOCAL("port", 'p', NUMBER, port, 0, 65535, "N", "TCP port of the server; 0 takes a free one"),
	LOCAL("gid-index", 'x', NUMBER, gid_index, 0, 255, "N", "GID index of this end"),
	LOCAL("vector", 'X', NUMBER, vector, 0, 65535, "N", "completion vector of this end's completion queues"),
	LOCAL("numa", 0, NODE, numa, 0, 4095, "auto|none|NODE", "NUMA node of the thread and its buffers"),
	LOCAL("gpu", 0, TEXT, gpu, 0, 0, "GPU", "use the memory of this GPU: its index, UUID or PCI address"),
	LOCAL("use_cuda", 0, INDEX, cuda, 0, 255, "N", "the same by index; without a value: 0"),
	LOCAL("use_cuda_bus_id", 0, TEXT, cuda_bus_id, 0, 0, "PCI", "the same by PCI address"),
	LOCAL("use_cuda_dmabuf", 0, FLAG, cuda_dmabuf, 0, 1, NULL, "the same as --gpu-path dmabuf"),
	LOCAL("gpu-path", 0, CHOICE, gpu_path, 0, 3, "auto|dmabuf|peermem|staged",
	      "how the NIC reaches GPU memory; staged: through host memory (gdr_bw)"),
	LOCAL("timeout", 0, SECONDS, timeout_ns, 1000000, SECONDS_MAX, "S", "give up after S seconds without progress"),
	LOCAL("connect-timeout", 0, SECONDS, connect_timeout_ns, 0, SECONDS_MAX, "S",
	      "retry the connection to the server for S seconds"),
	LOCAL("ready-fd", 0, NUMBER, ready_fd, 0, 1 << 20, "FD", "write the TCP port to FD when clients can connect"),
	LOCAL("persistent", 0, FLAG, persistent, 0, 1, NULL, "server: serve one client after another, until a signal"),
	LOCAL("list", 0, FLAG, list, 0, 1, NULL, "show every RDMA device and port, and exit"),
	LOCAL("version", 'V', FLAG, version, 0, 1, NULL, "show the version, and exit"),
	LOCAL("help", 'h', FLAG, help, 0, 1, NULL, "show this, and exit"),

	OUTPUT("report_gbits", 0, FLAG, gbits, 0, 1, NULL, "bandwidth in Gb/s (10^9 bits) instead of MiB/s"),
	OUTPUT("report-both", 0, FLAG, both_rows, 0, 1, NULL, "with -b: a row for each direction, not one for their sum"),
	OUTPUT("noPeak", 'N', FLAG, no_peak, 0, 1, NULL, "do not measure the peak: no clock read in the loop"),
	OUTPUT("output", 0, CHOICE, only, 1, 3, "all|bandwidth|latency|message_rate", "print this one number only"),
	OUTPUT("report-histogram", 'H', FLAG, histogram, 0, 1, NULL, "latency: also print all samples, sorted"),
	OUTPUT("report-unsorted", 'U', FLAG, unsorted, 0, 1, NULL, "latency: also print all samples, in order"),
	OUTPUT("json", 0, FILE, json, 0, 0, "FILE", "one JSON document with everything (rdmark-json(5)); default: stdout"),
	OUTPUT("csv", 0, FILE, csv, 0, 0, "FILE", "one CSV row for each result; default: stdout"),
	OUTPUT("out_json", 0, FLAG, out_json, 0, 1, NULL, "perftest's JSON document, into perftest_out.json"),
	OUTPUT("out_json_file", 0, TEXT, out_json_file, 0, 0, "FILE", "perftest's JSON document, into FILE"),
	OUTPUT("interval", 0, SECONDS, interval_ns, 1000000, SECONDS_MAX, "S", "also report every S seconds"),
	OUTPUT("format", 0, CHOICE, format, 0, 1, "table|perftest", "how to print; perftest: as ib_* programs do"),
	OUTPUT("quiet", 0, FLAG, quiet, 0, 1, NULL, "no banner, no progress: results and errors only"),
	GDR(OUTPUT, "within", NUMBER, O(within_percent), 1, 100, "PERCENT",
	    "GPU memory must be within so much of host memory, else exit 6"),
	OUTPUT("perform_warm_up", 0, FLAG, ignored, 0, 1, NULL, "accepted: rdmark always warms up (see --warmup)"),
	OUTPUT("CPU-freq", 'F', FLAG, ignored, 0, 1, NULL, "accepted: rdmark's clock does not depend on it"),

	/* perftest's own spelling: what is in people's scripts must work */
	{"report-histogrm", 0, OPTION_FLAG, SCOPE_ALIAS, O(histogram), 0, 1, NULL, "report-histogram"},

	ADVICE("rdma_cm", 'R', "leave it out: rdmark exchanges addresses over TCP"),
	ADVICE("comm_rdma_cm", 'z', "leave it out: rdmark exchanges addresses over TCP"),
	ADVICE("mcg", 'g', "rdmark has no multicast"),
	ADVICE("MGID", 'M', "rdmark has no multicast"),
	ADVICE("dualport", 'O', "run one pair for each port"),
	ADVICE("margin", 'f', "leave it out: --duration measures all of its seconds"),
	ADVICE("report-cycles", 'C', "use --json: latencies in microseconds, unrounded"),
	ADVICE("report-counters", 'W', "read the port's hw_counters before and after the run"),
	ADVICE("report-per-port", 0, "run one pair for each port"),
	ADVICE("limit_bw", 'w', "compare bandwidth_gbps in the --json document, with jq"),
	ADVICE("limit_msgrate", 'y', "compare messages_per_s in the --json document, with jq"),
	ADVICE("run_infinitely", 0, "use --duration with --interval; Ctrl-C keeps what was measured"),
	ADVICE("cpu_util", 0, "use time(1) or pidstat(1)"),
	ADVICE("hop_limit", 'L', "leave it out: the hop limit is 255"),
	ADVICE("outs", 'o', "rdmark has no READ or atomic test"),
	ADVICE("atomic_type", 'A', "rdmark has no atomic test"),
	ADVICE("use_rocm", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_rocm_dmabuf", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_neuron", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_hl", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_mlu", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_opencl", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_data_direct", 0, "use --gpu-path: rdmark reaches GPUs by dma-buf or peermem"),
	ADVICE("use_hugepages", 0, "leave it out: large buffers are 2 MiB aligned, for transparent huge pages"),
	ADVICE("mmap", 0, "rdmark measures anonymous host memory"),
	ADVICE("mr_per_qp", 0, "leave it out: one MR holds the buffers of all QPs"),
	ADVICE("odp", 0, "rdmark registers pinned memory"),
	ADVICE("rate_limit", 0, "limit the rate with tc(8) or the switch"),
	ADVICE("rate_units", 0, "limit the rate with tc(8) or the switch"),
	ADVICE("burst_size", 0, "limit the rate with tc(8) or the switch"),
	ADVICE("typical_pkt_size", 0, "limit the rate with tc(8) or the switch"),
	ADVICE("ipv6", 0, "leave it out: IPv4 and IPv6 both work"),
	ADVICE("ipv6-addr", 0, "leave it out: the GID is chosen by the address family; or give --gid-index"),
	ADVICE("bind_source_ip", 0, "give the device or its IP address with --ib-dev"),
	ADVICE("source_ip", 0, "give the device or its IP address with --ib-dev"),
	ADVICE("force-link", 0, "leave it out: the link layer is the port's"),
	ADVICE("pkey_index", 0, "rdmark uses the P_Key at index 0"),
	ADVICE("inline_recv", 0, "rdmark has no inline receive"),
	ADVICE("recv_post_list", 0, "leave it out: receives are posted in batches"),
	ADVICE("write_with_imm", 0, "rdmark's write tests use plain RDMA WRITE"),
	ADVICE("dont_xchg_versions", 0, "leave it out: both ends always say their version"),
	ADVICE("retry_count", 0, "leave it out: the retry count is 7"),
	ADVICE("wait_destroy", 0, "leave it out: rdmark ends when both ends are done"),
	ADVICE("latency_gap", 0, "rdmark's ping-pong has no pause"),
	ADVICE("no_lock", 0, "leave it out: one thread owns the QPs"),
	ADVICE("data_validation", 0, "rdmark 0.1 does not check the data"),
	ADVICE("cycle_buffer", 0, "leave it out: small messages walk through a page"),
	ADVICE("flows", 0, "use --qp: every QP is a flow"),
	ADVICE("flow_label", 0, "leave it out: the flow label is 0"),
	ADVICE("pin_cores", 0, "use --numa, or taskset(1), which is respected"),
	ADVICE("numa_node", 0, "use --numa"),
	ADVICE("disable_numa", 0, "use --numa none"),
	ADVICE("tclass", 0, "use --tos"),
	ADVICE("dlid", 0, "leave it out: the ends tell each other their LIDs"),
	ADVICE("connectionless", 0, "rdmark's QPs are connected"),
	ADVICE("use-null-mr", 0, "rdmark measures host memory"),
	ADVICE("use_neuron_dmabuf", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("mmap-offset", 0, "rdmark measures anonymous host memory"),
	ADVICE("payload_file_path", 0, "rdmark chooses what it sends"),
	ADVICE("use_old_post_send", 0, "leave it out: rdmark posts with ibv_post_send"),
	ADVICE("rate_limit_type", 0, "limit the rate with tc(8) or the switch"),
	ADVICE("congest_type", 0, "congestion control is the device's setting"),
	ADVICE("flows_burst", 0, "use --qp: every QP is a flow"),
	ADVICE("use_ooo", 0, "rdmark keeps the device's default order"),
	ADVICE("no_ddp", 0, "rdmark keeps the device's default order"),
	ADVICE("unsolicited_write", 0, "rdmark's write tests use plain RDMA WRITE"),
	ADVICE("aes_xts", 0, "rdmark does not encrypt"),
	ADVICE("encrypt_on_tx", 0, "rdmark does not encrypt"),
	ADVICE("sig_before", 0, "rdmark does not encrypt"),
	ADVICE("aes_block_size", 0, "rdmark does not encrypt"),
	ADVICE("kek_path", 0, "rdmark does not encrypt"),
	ADVICE("credentials_path", 0, "rdmark does not encrypt"),
	ADVICE("data_enc_keys_number", 0, "rdmark does not encrypt"),
	ADVICE("data_enc_key_app_path", 0, "rdmark does not encrypt"),
	ADVICE("log_dci_streams", 0, "rdmark has no DC transport"),
	ADVICE("log_active_dci_streams", 0, "rdmark has no DC transport"),
};
/* clang-format on */

_Static_assert(sizeof(table) / sizeof(table[0]) <= OPTION_ROWS_MAX, "raise OPTION_ROWS_MAX");

const struct option_row *options_table(size_t *rows)
{
	*rows = sizeof(table) / sizeof(table[0]);
	return table;
}

const struct option_row *options_find(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

bool options_given(const struct options *o, const char *name)
{
	const struct option_row *row = options_find(name);

	return row && o->given[row - table];
}
