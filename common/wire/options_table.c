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
#define RAW_ETHERNET "rdmark measures RDMA, not raw Ethernet: use perftest's raw_ethernet programs"
#define ADVICE(name, letter, advice) {name, letter, OPTION_NONE, SCOPE_ADVICE, 0, 0, 0, NULL, advice}
/* Of some programs only. */
#define SOME(scope, name, kind, member, min, max, value, help, only) \
	{name, 0, OPTION_##kind, SCOPE_##scope, member, min, max, value, help, only}
#define GDR(scope, name, kind, member, min, max, value, help) \
	SOME(scope, name, kind, member, min, max, value, help, "gdr_bw")
/* Another NAME of the option TARGET; "target=value": and its value. */
#define ALIAS(name, letter, kind, target) {name, letter, OPTION_##kind, SCOPE_ALIAS, 0, 0, 1, NULL, target}

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
	SOME(EXPERIMENT, "post-api", CHOICE, E(post_api), 0, 2, "auto|send|wr",
	     "post by ibv_post_send or by ibv_wr_*; auto: the warm-up finds the quicker one", "send_bw|write_bw"),
	EXPERIMENT("cq-mod", 'Q', NUMBER, cq_mod, 1, 65536, "N",
		   "one completion for N work requests, at most a quarter of the send queue"),
	EXPERIMENT("mtu", 'm', NUMBER, mtu_bytes, 256, 4096, "BYTES", "path MTU: 256, 512, 1024, 2048 or 4096"),
	EXPERIMENT("inline_size", 'I', NUMBER, inline_bytes, 0, 65536, "BYTES",
		   "messages up to this size travel in the work request"),
	EXPERIMENT("connection", 'c', CHOICE, connection, 0, 2, "RC|UC|UD", "transport; messages of UC and UD may be lost"),
	EXPERIMENT("rdma_cm", 'R', FLAG, rdma_cm, 0, 1, NULL, "connect the QPs through rdma_cm"),
	EXPERIMENT("events", 'e', FLAG, events, 0, 1, NULL, "sleep until completions come instead of polling for them"),
	EXPERIMENT("use-srq", 0, FLAG, use_srq, 0, 1, NULL, "one receive queue for all QPs of a thread"),
	EXPERIMENT("own-cqs", 0, FLAG, own_cqs, 0, 1, NULL, "completion queues for each QP instead of one for all"),
	EXPERIMENT("sl", 'S', NUMBER, sl, 0, 15, "N", "service level"),
	EXPERIMENT("tos", 'T', NUMBER, tos, 0, 255, "N", "traffic class of RoCE packets (DSCP << 2)"),
	EXPERIMENT("qp-timeout", 'u', NUMBER, qp_timeout, 0, 31, "N", "ACK timeout, 4.096 us << N; 0 waits for ever"),
	EXPERIMENT("retry_count", 0, NUMBER, retry_count, 0, 7, "N", "times that the NIC sends again before it gives up"),
	EXPERIMENT("hop_limit", 'L', NUMBER, hop_limit, 0, 255, "N", "hop limit of RoCE packets"),
	EXPERIMENT("flow_label", 0, NUMBER, flow_label, 0, 0xfffff, "N", "IPv6 flow label of RoCE packets"),
	EXPERIMENT("disable_pcie_relaxed", 0, FLAG, strict_order, 0, 1, NULL, "without PCIe relaxed ordering"),
	SOME(EXPERIMENT, "run_infinitely", FLAG, E(run_infinitely), 0, 1, NULL,
	     "until Ctrl-C, with a row every 5 s, --interval or --duration", "send_bw|write_bw|send_lat|write_lat"),
	SOME(EXPERIMENT, "write_with_imm", FLAG, E(write_with_imm), 0, 1, NULL,
	     "RDMA WRITE with immediate: the receiver gets a completion", "write_bw|write_lat"),
	SOME(EXPERIMENT, "recv_post_list", NUMBER, E(recv_post_list), 1, 65536, "N",
	     "receives in one post", "send_bw|write_bw"),
	SOME(EXPERIMENT, "latency_gap", NUMBER, E(latency_gap_us), 0, 1000000, "US",
	     "pause so many microseconds before each message", "send_lat|write_lat"),
	EXPERIMENT("verify", 0, FLAG, verify, 0, 1, NULL, "check data after each size, outside the timed part; wrong: exit 5"),
	EXPERIMENT("rate_limit", 0, RATE, rate_limit, 0, RATE_UNLIMITED, "RATE",
		   "bandwidth: post by a schedule of RATE, in --rate_units, or with M, g or p behind it"),
	EXPERIMENT("rate_units", 0, CHOICE, rate_units, 0, 2, "M|g|p", "of --rate_limit: MiB/s, Gb/s or messages/s"),
	EXPERIMENT("rate_limit_type", 0, CHOICE, rate_type, 0, 2, "SW|HW|PP", "who keeps the schedule: SW, this program"),
	EXPERIMENT("burst_size", 0, NUMBER, burst, 1, 65536, "N", "with --rate_limit: messages that are due at once"),
	EXPERIMENT("load", 0, RATE, load, 0, RATE_UNLIMITED, "RATE",
		   "latency: beside it a stream of RDMA WRITEs, client to server, of RATE Gb/s, or max"),
	EXPERIMENT("load-size", 0, SIZE, load_bytes, 1, UINT64_C(1) << 30, "BYTES", "message size of --load"),
	EXPERIMENT("mr_per_qp", 0, FLAG, mr_per_qp, 0, 1, NULL, "a memory region for each QP, not one for all"),
	EXPERIMENT("footprint", 0, SIZE, footprint_bytes, 0, UINT64_C(1) << 40, "BYTES",
		   "bandwidth: memory of each QP that its messages walk through, at both ends for WRITEs"),
	EXPERIMENT("align", 0, NUMBER, align_bytes, 0, 4095, "BYTES", "every message begins so far behind the start of a page"),
	GDR(EXPERIMENT, "plain", FLAG, E(plain), 0, 1, NULL, "one row as write_bw prints it, instead of all cells; --use_cuda implies it"),
	GDR(EXPERIMENT, "windows", NUMBER, E(windows), 1, 1000, "N", "windows for each cell, interleaved with the others"),
	GDR(EXPERIMENT, "staged-chunk", SIZE, E(staged_chunk_bytes), 4096, UINT64_C(1) << 30, "BYTES", "piece that a staged cell copies at once"),
	GDR(EXPERIMENT, "staged-slots", NUMBER, E(staged_slots), 2, 64, "N", "pieces that a staged cell has under way"),

	LOCAL("ib-dev", 'd', TEXT, device, 0, 0, "DEV", "RDMA device: name, netdev, IP, GUID or PCI address; several by comma are used at once"),
	LOCAL("ib-port", 'i', NUMBER, ib_port, 1, 255, "N", "port of the device"),
	LOCAL("port", 'p', NUMBER, port, 0, 65535, "N", "TCP port of the server; 0 takes a free one"),
	LOCAL("bind_source_ip", 0, TEXT, source_ip, 0, 0, "IP", "this end's IP address of the TCP connection"),
	LOCAL("ipv6-addr", 0, FLAG, ipv6_addr, 0, 1, NULL, "client: the TCP connection over IPv6 only"),
	LOCAL("gid-index", 'x', NUMBER, gid_index, 0, 255, "N", "GID index of this end"),
	LOCAL("vector", 'X', NUMBER, vector, 0, 65535, "N", "completion vector of this end's completion queues"),
	LOCAL("ipv6", 0, FLAG, ipv6, 0, 1, NULL, "use a GID with an IPv6 address"),
	LOCAL("pkey_index", 0, NUMBER, pkey_index, 0, 65535, "N", "index of the P_Key; the other end finds the same partition"),
	LOCAL("dlid", 0, NUMBER, dlid, 1, 0xbfff, "LID", "InfiniBand: send to this LID instead of what the peer says"),
	LOCAL("force-link", 0, CHOICE, link, 0, 2, "any|IB|Ethernet", "refuse a port with another link layer"),
	LOCAL("comm_rdma_cm", 'z', FLAG, comm_rdma_cm, 0, 1, NULL, "the ends talk over rdma_cm instead of TCP; give it on both"),
	LOCAL("numa", 0, NODE, numa, 0, 4095, "auto|none|NODE", "NUMA node of the thread and its buffers"),
	LOCAL("use_hugepages", 0, FLAG, hugepages, 0, 1, NULL, "buffers in huge pages of the system's pool"),
	LOCAL("odp", 0, FLAG, odp, 0, 1, NULL, "register buffers for on-demand paging, not pinned"),
	LOCAL("mmap", 0, TEXT, mmap_file, 0, 0, "FILE", "buffers in this file, mapped shared: what arrives overwrites it"),
	LOCAL("mmap-offset", 0, SIZE, mmap_offset_bytes, 0, UINT64_C(1) << 50, "BYTES", "where in that file they begin"),
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
	LOCAL("wait_destroy", 0, SECONDS, wait_destroy_ns, 0, SECONDS_MAX, "S",
	      "when all is done keep the QPs for S seconds"),
	LOCAL("report-counters", 'W', TEXT, counters, 0, 0, "LIST",
	      "change of the port's counters, by comma: hw_counters/out_of_sequence,port_xmit_wait or all"),
	LOCAL("max-memory", 0, SIZE, max_memory_bytes, 1, UINT64_C(1) << 50, "BYTES",
	      "server: buffers that a client's experiment may need at this end"),
	LOCAL("max-duration", 0, SECONDS, max_duration_ns, 1000000, SECONDS_MAX, "S",
	      "server: how long one client may be served"),
	LOCAL("max-qps", 0, NUMBER, max_qps, 1, 65536, "N", "server: QPs that a client may ask for"),
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
	OUTPUT("repeat", 0, NUMBER, repeat, 1, 10000, "N", "client: measure each size N times; the row is the median run's"),
	OUTPUT("until-stable", 0, TEXT, until_stable, 0, 0, "PERCENT",
	       "client: repeat until the last 5 runs drift and deviate by less"),
	OUTPUT("cpu_util", 0, FLAG, cpu_util, 0, 1, NULL, "measure the CPU use of both ends; bandwidth: a sixth column"),
	OUTPUT("format", 0, CHOICE, format, 0, 1, "table|perftest", "how to print; perftest: as ib_* programs do"),
	OUTPUT("quiet", 0, FLAG, quiet, 0, 1, NULL, "no banner, no progress: results and errors only"),
	OUTPUT("min-bw", 0, TEXT, min_bw, 0, 0, "RATE", "client: every row has this bandwidth, in Gb/s or with a unit, else exit 6"),
	OUTPUT("max-lat", 0, TEXT, max_lat, 0, 0, "[P=]US", "client: every row's mean latency, or p99 and so on, is at most US, else exit 6"),
	OUTPUT("min-msgrate", 0, TEXT, min_msgrate, 0, 0, "N", "client: every row has N messages/s (with k M G: thousands), else exit 6"),
	OUTPUT("limit_bw", 'w', TEXT, limit_bw, 0, 0, "RATE", "--min-bw, in the unit of the table"),
	OUTPUT("limit_msgrate", 'y', TEXT, limit_msgrate, 0, 0, "MPPS", "--min-msgrate, in millions a second"),
	GDR(OUTPUT, "within", NUMBER, O(within_percent), 1, 100, "PERCENT",
	    "GPU memory must be within so much of host memory, else exit 6"),
	OUTPUT("perform_warm_up", 0, FLAG, ignored, 0, 1, NULL, "accepted: rdmark always warms up (see --warmup)"),
	OUTPUT("typical_pkt_size", 0, NUMBER, ignored, 0, NUMBER_MAX, "BYTES", "accepted: it is for pacing by the NIC (--rate_limit_type HW)"),
	OUTPUT("CPU-freq", 'F', FLAG, ignored, 0, 1, NULL, "accepted: rdmark's clock does not depend on it"),
	OUTPUT("margin", 'f', SECONDS, ignored_ns, 0, SECONDS_MAX, "S", "accepted: the warm-up is apart, all of --duration is measured"),
	OUTPUT("dont_xchg_versions", 0, FLAG, ignored, 0, 1, NULL, "accepted: other versions cannot disturb the run"),
	OUTPUT("use_old_post_send", 0, FLAG, ignored, 0, 1, NULL, "accepted: a bandwidth test's --post-api chooses the calls"),

	/* perftest's own spelling: what is in people's scripts must work */
	ALIAS("report-histogrm", 0, FLAG, "report-histogram"),
	ALIAS("source_ip", 'j', TEXT, "bind_source_ip"), /* until 6.06 */
	ALIAS("tclass", 0, NUMBER, "tos"),
	ALIAS("numa_node", 0, NODE, "numa"),
	ALIAS("disable_numa", 0, FLAG, "numa=none"),
	ALIAS("data_validation", 0, FLAG, "verify"),

	ADVICE("mcg", 'g', "rdmark has no multicast"),
	ADVICE("MGID", 'M', "rdmark has no multicast"),
	ADVICE("dualport", 'O', "run one pair for each port"),
	ADVICE("report-cycles", 'C', "use --json: latencies in microseconds, unrounded"),
	ADVICE("report-per-port", 0, "run one pair for each port"),
	ADVICE("outs", 'o', "rdmark has no READ or atomic test"),
	ADVICE("atomic_type", 'A', "rdmark has no atomic test"),
	ADVICE("use_rocm", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_rocm_dmabuf", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_neuron", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_hl", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_mlu", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_opencl", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_data_direct", 0, "use --gpu-path: rdmark reaches GPUs by dma-buf or peermem"),
	ADVICE("inline_recv", 0, "leave it out: libibverbs has no inline receive, mlx5 does it by itself (MLX5_SCATTER_TO_CQE)"),
	ADVICE("no_lock", 0, "leave it out: one thread owns the QPs; MLX5_SINGLE_THREADED=1 takes away the locks of mlx5"),
	ADVICE("cycle_buffer", 0, "leave it out: small messages walk through a page"),
	ADVICE("flows", 0, "use --qp: every QP is a flow"),
	ADVICE("pin_cores", 0, "use --numa, or taskset(1), which is respected"),
	ADVICE("connectionless", 0, "rdmark has no multicast"),
	ADVICE("use-null-mr", 0, "rdmark measures host memory"),
	ADVICE("use_neuron_dmabuf", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("payload_file_path", 0, "rdmark chooses what it sends"),
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
	/* newer than 6.25, or of some builds only */
	ADVICE("no_enhanced_reorder", 0, "rdmark keeps the device's default order"),
	ADVICE("sig_offload", 0, "rdmark sends plain data, without signatures"),
	ADVICE("data_validation_debug", 0, "rdmark says the first wrong byte by itself, where it checks the data"),
	ADVICE("cqe_poll", 0, "leave it out: rdmark takes up to 16 completions at once"),
	ADVICE("cuda_mem_type", 0, "use --gpu: rdmark measures memory of cuMemAlloc"),
	ADVICE("gpu_touch", 0, "rdmark leaves the GPU alone while it measures"),
	ADVICE("use_mlu_dmabuf", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_musa", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_supa", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("opencl_platform_id", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("use_ib_dm_dmabuf", 0, "rdmark measures host memory and CUDA GPUs' (--gpu)"),
	ADVICE("tph_mem", 0, "rdmark sends no TLP processing hints"),
	ADVICE("cpu_id", 0, "rdmark sends no TLP processing hints; taskset(1) chooses the CPU"),
	ADVICE("ph", 0, "rdmark sends no TLP processing hints"),

	/* of its raw_ethernet programs, which share the parser */
	ADVICE("source_mac", 'B', RAW_ETHERNET), ADVICE("dest_mac", 'E', RAW_ETHERNET),
	ADVICE("local_mac", 0, RAW_ETHERNET), ADVICE("remote_mac", 0, RAW_ETHERNET),
	ADVICE("dest_ip", 'J', RAW_ETHERNET), ADVICE("local_ip", 0, RAW_ETHERNET), ADVICE("remote_ip", 0, RAW_ETHERNET),
	ADVICE("dest_port", 'K', RAW_ETHERNET), ADVICE("source_port", 'k', RAW_ETHERNET),
	ADVICE("local_port", 0, RAW_ETHERNET), ADVICE("remote_port", 0, RAW_ETHERNET),
	ADVICE("ethertype", 'Y', RAW_ETHERNET), ADVICE("use_rss", 'G', RAW_ETHERNET), ADVICE("mac_fwd", 'v', RAW_ETHERNET),
	ADVICE("server", 'Z', "leave it out: without a host it is the server"),
	ADVICE("client", 'P', "leave it out: with a host it is the client"),
	ADVICE("vlan_en", 0, RAW_ETHERNET), ADVICE("vlan_pcp", 0, RAW_ETHERNET),
	ADVICE("promiscuous", 0, RAW_ETHERNET), ADVICE("sniffer", 0, RAW_ETHERNET), ADVICE("reply_every", 0, RAW_ETHERNET),
	ADVICE("tcp", 0, RAW_ETHERNET), ADVICE("raw_ipv6", 0, RAW_ETHERNET), ADVICE("raw_mcast", 0, RAW_ETHERNET),
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
