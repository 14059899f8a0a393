// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/rate.h"
#include "cli/options.h"
#include "verbs/transports.h"

#define E(member) offsetof(struct options, experiment.member)
#define L(member) offsetof(struct options, local.member)
#define O(member) offsetof(struct options, output.member)

#define NUMBER_MAX  UINT32_MAX
#define SECONDS_MAX OPTIONS_TIME_MAX_NS

/* clang-format off */
/* What restricts the option may follow the help: .needs, .never, .idle, .own. */
#define ROW(scope, at, place, name, letter, kind, min, max, value, help, ...) \
	{name, letter, OPTION_##kind, SCOPE_##scope, at, min, max, value, help, \
	 .group = GROUP_##place, ##__VA_ARGS__}
#define EXPERIMENT(place, name, letter, kind, field, ...) \
	ROW(EXPERIMENT, E(field), place, name, letter, kind, __VA_ARGS__)
#define LOCAL(place, name, letter, kind, field, ...) \
	ROW(LOCAL, L(field), place, name, letter, kind, __VA_ARGS__)
#define OUTPUT(place, name, letter, kind, field, ...) \
	ROW(LOCAL, O(field), place, name, letter, kind, __VA_ARGS__)
#define EXPERIMENT_FLAG(place, name, letter, field, ...) \
	EXPERIMENT(place, name, letter, FLAG, field, 0, 1, NULL, __VA_ARGS__)
#define LOCAL_FLAG(place, name, letter, field, ...) \
	LOCAL(place, name, letter, FLAG, field, 0, 1, NULL, __VA_ARGS__)
#define OUTPUT_FLAG(place, name, letter, field, ...) \
	OUTPUT(place, name, letter, FLAG, field, 0, 1, NULL, __VA_ARGS__)
#define LOCAL_TEXT(place, name, letter, field, ...) \
	LOCAL(place, name, letter, TEXT, field, 0, 0, __VA_ARGS__)
#define OUTPUT_TEXT(place, name, letter, field, ...) \
	OUTPUT(place, name, letter, TEXT, field, 0, 0, __VA_ARGS__)
/* Another NAME of the option TARGET; "target=value": and its value. */
#define ALIAS(name, letter, kind, target, ...) \
	{name, letter, OPTION_##kind, SCOPE_ALIAS, 0, 0, 1, NULL, target, ##__VA_ARGS__}

/* What several rows say. */
#define OURS     .whole = true /* perftest has no such name */
#define BW       .needs = TRAIT_BANDWIDTH
#define LAT      .needs = TRAIT_LATENCY
#define NO_LAT   .idle = TRAIT_LATENCY
#define CELLS    .needs = TRAIT_CELLS, .own = true, OURS
#define ONE_ROW  .never = TRAIT_SCHEDULE
#define SERVER   .never = TRAIT_CLIENT
#define FETCHING (TRAIT_READS | TRAIT_ATOMICS)
#define NO_CELLS .never = TRAIT_CELLS, .own = true
#define NO_ATOMICS .never = TRAIT_ATOMICS
#define RECEIVES   .never = FETCHING
#define REGS     .calls = TRAIT_REGISTERS
#define CONNS    .calls = TRAIT_CONNECTS
#define CALLS    .calls = TRAIT_REGISTERS | TRAIT_CONNECTS
#define OF_PATH    .idle = TRAIT_IWARP | TRAIT_EFA /* which TCP, or EFA, controls itself */

static const struct option_row table[] = {
	EXPERIMENT(RUN, "size", 's', SIZE, size_bytes, 1, UINT64_C(1) << 40, "BYTES",
		"message size", NO_ATOMICS, REGS,
		.help_calls = "size of a memory region"),
	EXPERIMENT_FLAG(RUN, "all", 'a', sweep, "all sizes from 2 B to 8 MiB, in powers of two",
		.never = TRAIT_ATOMICS | TRAIT_SCHEDULE, REGS),
	EXPERIMENT(RUN, "iters", 'n', NUMBER, iters, 1, UINT64_C(1) << 48, "N",
		"messages to measure on each QP", .help_latency = "messages to measure", CALLS,
		.help_calls = "how often each thread does it"),
	EXPERIMENT(RUN, "duration", 'D', SECONDS, duration_ns, 1, SECONDS_MAX, "S",
		"measure for S seconds instead of N messages", CALLS,
		.help_calls = "measure for S seconds instead"),
	EXPERIMENT(RUN, "warmup", 0, NUMBER, warmup, 0, NUMBER_MAX, "N",
		"messages sent on each QP before the clock starts", ONE_ROW,
		.help_latency = "messages sent before the clock starts", OURS, CALLS,
		.help_calls = "how often before the clock starts"),
	EXPERIMENT(RUN, "omit", 0, SECONDS, omit_ns, 0, SECONDS_MAX, "S",
		"before the warm-up, send for S seconds that are not measured", ONE_ROW, OURS),
	EXPERIMENT(RUN, "reconnect", 0, NUMBER, reconnect, 0, SWEEP_VALUES_MAX, "N",
		"measure everything N times, each time over new QPs: one row for each connection",
		ONE_ROW, .counted = true, OURS),
	EXPERIMENT(QUEUES, "qp", 'q', NUMBER, qps, 1, 65536, "N", "number of QPs per thread", BW),
	EXPERIMENT(QUEUES, "threads", 0, NUMBER, threads, 1, 1024, "N",
		"threads per device, each with its own CPU and QPs", OURS, CALLS,
		.help_calls = "threads per device, each with its own CPU"),
	EXPERIMENT(QUEUES, "share", 0, CHOICE, share, 0, 1, "none|context",
		"with --threads: what they post through; none: each has a thread domain", OURS),
	EXPERIMENT_FLAG(RUN, "bidirectional", 'b', bidirectional, "both ends send at the same time",
		BW, .never = TRAIT_CELLS),
	EXPERIMENT_FLAG(RUN, "reversed", 0, reversed,
		"the server posts the messages, not the client", BW),
	EXPERIMENT(QUEUES, "tx-depth", 't', NUMBER, tx_depth, 1, 65536, "N",
		"send queue depth of each QP; most bandwidth tests use 192 for messages up to 8 KiB",
		.help_latency = "send queue depth", CONNS),
	EXPERIMENT(QUEUES, "rx-depth", 'r', NUMBER, rx_depth, 1, 65536, "N",
		"receive queue depth of each QP, or of the SRQ",
		.help_latency = "receive queue depth", RECEIVES),
	EXPERIMENT(QUEUES, "post_list", 'l', NUMBER, post_list, 1, 65536, "N",
		"work requests per post", BW),
	EXPERIMENT(QUEUES, "post-api", 0, CHOICE, post_api, 0, 2, "auto|send|wr",
		"post with ibv_post_send or ibv_wr_*; auto: ibv_wr_* where the device has them", BW,
		NO_CELLS, OURS),
	EXPERIMENT(QUEUES, "cq-mod", 'Q', NUMBER, cq_mod, 1, 65536, "N",
		"one completion per N work requests; at most a quarter of the send queue", NO_LAT),
	EXPERIMENT(PATH, "mtu", 'm', NUMBER, mtu_bytes, 256, 4096, "BYTES",
		"path MTU: 256, 512, 1024, 2048 or 4096", OF_PATH, CONNS, .power_of_two = true),
	EXPERIMENT(QUEUES, "inline_size", 'I', NUMBER, inline_bytes, 0, 65536, "BYTES",
		"send messages up to this size inline", .never = FETCHING),
	EXPERIMENT(PATH, "connection", 'c', CHOICE, connection, 0,
		CONNECTIONS - 1, TRANSPORT_WORDS,
		"transport; UC and UD can lose messages; SRD needs an EFA", CONNS,
		.help_calls = "transport; not XRC; SRD needs an EFA"),
	EXPERIMENT(PATH, "mcg", 'g', INDEX, mcg, 0, 1024, "N",
		"send to a multicast group that N QPs of the other end (1) receive from: UD on RoCE",
		.needs = TRAIT_RECEIVES, NO_CELLS, .bare = "1"),
	EXPERIMENT_FLAG(PATH, "rdma_cm", 'R', rdma_cm, "connect the QPs with rdma_cm", CONNS),
	EXPERIMENT_FLAG(QUEUES, "events", 'e', events,
		"wait for completion events instead of polling"),
	EXPERIMENT_FLAG(QUEUES, "use-srq", 0, use_srq,
		"one shared receive queue for all QPs of a thread", RECEIVES),
	EXPERIMENT_FLAG(QUEUES, "own-cqs", 0, own_cqs, "separate completion queues for each QP", OURS),
	EXPERIMENT(PATH, "sl", 'S', NUMBER, sl, 0, 15, "N", "service level", OF_PATH, CONNS),
	EXPERIMENT(PATH, "tos", 'T', NUMBER, tos, 0, 255, "N",
		"traffic class of RoCE packets (DSCP << 2)", .idle = TRAIT_EFA, CONNS),
	LOCAL(PATH, "dscp", 0, NUMBER, dscp, 0, 63, "N", "DSCP of RoCE packets: same as --tos=4*N", OURS,
		CONNS),
	EXPERIMENT(PATH, "qp-timeout", 'u', NUMBER, qp_timeout, 0, 31, "N",
		"ACK timeout: 4.096 us << N; 0: no timeout", OF_PATH, CONNS),
	EXPERIMENT(PATH, "retry_count", 0, NUMBER, retry_count, 0, 7, "N",
		"how often the NIC resends before it gives up", OF_PATH, CONNS),
	EXPERIMENT(PATH, "hop_limit", 'L', NUMBER, hop_limit, 0, 255, "N",
		"hop limit (TTL) of RoCE packets", OF_PATH, CONNS),
	EXPERIMENT(PATH, "flow_label", 0, NUMBER, flow_label, 0, 0xfffff, "N[,N...]",
		"IPv6 flow label of RoCE packets; of several, the QPs have one each in turn",
		.dealt = true, OF_PATH, CONNS),
	EXPERIMENT_FLAG(BUFFERS, "disable_pcie_relaxed", 0, strict_order,
		"do not use PCIe relaxed ordering", REGS),
	EXPERIMENT_FLAG(RUN, "run_infinitely", 0, run_infinitely,
		"run until Ctrl-C; report every 5 s, or every --interval", NO_CELLS),
	EXPERIMENT_FLAG(RUN, "write_with_imm", 0, write_with_imm,
		"use RDMA WRITE with immediate: the receiver gets a completion",
		.needs = TRAIT_WRITES, NO_CELLS),
	EXPERIMENT_FLAG(RUN, "send_with_imm", 0, send_with_imm,
		"use SEND with immediate: each message carries four bytes more",
		.needs = TRAIT_RECEIVES, NO_CELLS),
	EXPERIMENT(QUEUES, "recv_post_list", 0, NUMBER, recv_post_list, 1, 65536, "N",
		"receives per ibv_post_recv call", BW, .never = TRAIT_CELLS | FETCHING,
		.own = true),
	EXPERIMENT(PACE, "latency_gap", 0, MICROSECONDS, latency_gap_us, 0, 1000000, "US",
		"pause for this many microseconds before each message", LAT, .own = true),
	EXPERIMENT(PACE, "latency_rate", 0, NUMBER, latency_rate, 0, 1000000000, "N/s",
		"send N messages/s on a schedule; time each one from when it should have been sent",
		LAT, .own = true, OURS),
	EXPERIMENT(RUN, "verify", 0, INDEX, verify, 0, NUMBER_MAX, "N",
		"check the data after each size, for as long as its run, or at least N messages of "
		"each QP; wrong data: exit status 5",
		ONE_ROW, .bare = "1", OURS),
	EXPERIMENT(PACE, "rate_limit", 0, RATE, rate_limit, 0, RATE_MAX, "RATE",
		"limit sending to RATE, e.g. 2.5g (g Gb/s, M MiB/s, p messages/s)", ONE_ROW, BW),
	EXPERIMENT(PACE, "rate_units", 0, CHOICE, rate_units, 0, 2, "M|g|p",
		"unit of a --rate_limit without a letter: MiB/s, Gb/s or messages/s", BW),
	EXPERIMENT(PACE, "rate_limit_type", 0, CHOICE, rate_type, 0, 2, "SW|HW|PP",
		"who limits the rate; only SW, this program, is supported", BW),
	EXPERIMENT(PACE, "burst_size", 0, NUMBER, burst, 1, 65536, "N",
		"with --rate_limit: messages sent at a time", BW),
	EXPERIMENT_FLAG(BUFFERS, "mr_per_qp", 0, mr_per_qp,
		"register a memory region for each QP, not one for all", ONE_ROW),
	EXPERIMENT(BUFFERS, "footprint", 0, SIZE, footprint_bytes, 0, UINT64_C(1) << 40, "BYTES",
		"memory per QP that its messages walk through; WRITEs: at both ends", BW, ONE_ROW, OURS),
	EXPERIMENT(BUFFERS, "align", 0, NUMBER, align_bytes, 0, 4095, "BYTES",
		"offset of every message from the start of a page", ONE_ROW, OURS),
	EXPERIMENT(QUEUES, "outs", 'o', NUMBER, outs, 1, 255, "N",
		"most requests of each QP that are outstanding",
		.never = TRAIT_WRITES | TRAIT_RECEIVES, .own = true),
	EXPERIMENT(RUN, "atomic_type", 'A', CHOICE, atomic_type, 0, 1, "CMP_AND_SWAP|FETCH_AND_ADD",
		"the atomic operation", .needs = TRAIT_ATOMICS, .own = true),
	EXPERIMENT_FLAG(GDR, "plain", 0, plain,
		"print one row like write_bw instead of all cells; --use_cuda implies it", CELLS),
	EXPERIMENT(GDR, "windows", 0, NUMBER, windows, 1, 1000, "N",
		"measurement windows per cell; the cells take turns", CELLS),

	LOCAL_TEXT(DEVICE, "ib-dev", 'd', device, "DEV",
		"RDMA device: name, netdev, IP, GUID or PCI address; or several: mlx5_0,mlx5_1", CALLS),
	LOCAL(DEVICE, "ib-port", 'i', NUMBER, ib_port, 1, 255, "N", "port of the device", CALLS),
	LOCAL(PEER, "port", 'p', NUMBER, port, 0, 65535, "N",
		"TCP port of the server; 0 picks a free one", CONNS),
	LOCAL_TEXT(PEER, "bind_source_ip", 0, source_ip, "IP",
		"local IP address of the TCP connection", CONNS),
	LOCAL_FLAG(PEER, "ipv6-addr", 0, ipv6_addr, "client: connect over IPv6 only", CONNS),
	LOCAL(DEVICE, "gid-index", 'x', NUMBER, gid_index, 0, 255, "N", "GID index of this end",
		CONNS),
	LOCAL(DEVICE, "vector", 'X', NUMBER, vector, 0, 65535, "N",
		"completion vector of the completion queues"),
	LOCAL_FLAG(DEVICE, "ipv6", 0, ipv6, "choose only GIDs with an IPv6 address", CONNS),
	LOCAL(DEVICE, "pkey_index", 0, NUMBER, pkey_index, 0, 65535, "N",
		"index of the P_Key; the other end takes the same partition", CONNS),
	LOCAL(DEVICE, "dlid", 0, NUMBER, dlid, 1, 0xbfff, "LID",
		"InfiniBand: send to this LID, not to the peer's own"),
	LOCAL_TEXT(DEVICE, "MGID", 'M', mgid, "GROUP",
		"with -g: the multicast group: an IP address, or 16 numbers as perftest's",
		.needs = TRAIT_RECEIVES, NO_CELLS),
	LOCAL(DEVICE, "force-link", 0, CHOICE, link, 0, 2, "any|IB|Ethernet",
		"refuse a port with another link layer", CALLS),
	LOCAL(MEMORY, "numa", 0, NODE, numa, 0, 4095, "auto|none|NODE",
		"NUMA node of the threads and buffers", OURS, CALLS),
	LOCAL_FLAG(MEMORY, "use_hugepages", 0, hugepages,
		"take buffers from the system's huge page pool", ONE_ROW, REGS),
	LOCAL_FLAG(MEMORY, "odp", 0, odp, "register buffers for on-demand paging", ONE_ROW, REGS),
	LOCAL_TEXT(MEMORY, "mmap", 0, mmap_file, "FILE",
		"use this file as buffer memory; it is overwritten", ONE_ROW, REGS),
	LOCAL(MEMORY, "mmap-offset", 0, SIZE, mmap_offset_bytes, 0, UINT64_C(1) << 50, "BYTES",
		"where in the --mmap file the buffers start", REGS),
	LOCAL(MEMORY, "gpu", 0, LIST, gpu, 0, 0, "GPU",
		"use memory of this GPU: index, UUID or PCI address; a client takes a list, too", NO_ATOMICS, OURS, REGS),
	LOCAL(MEMORY, "use_cuda", 0, INDEX, vendor_gpu, 0, 255, "N",
		"same as --gpu with an index among NVIDIA's GPUs; without one: 0", NO_ATOMICS, .bare = "0",
		REGS),
	LOCAL_TEXT(MEMORY, "use_cuda_bus_id", 0, cuda_bus_id, "PCI",
		"same as --gpu with a PCI address", NO_ATOMICS, REGS),
	LOCAL_FLAG(MEMORY, "use_cuda_dmabuf", 0, cuda_dmabuf, "same as --gpu-path=dmabuf",
		NO_ATOMICS, REGS),
	LOCAL_FLAG(MEMORY, "use_cuda_pcie_mapping", 0, cuda_pcie,
		"with --use_data_direct, which implies it: export GPU memory for PCIe", NO_ATOMICS, REGS),
	LOCAL(MEMORY, "cuda_mem_type", 0, NUMBER, cuda_mem_type, 0, 4, "N",
		"kind of CUDA memory; only 0, of cuMemAlloc, is supported", NO_ATOMICS, REGS),
	LOCAL(MEMORY, "use_rocm", 0, INDEX, vendor_gpu, 0, 255, "N",
		"same as --gpu with an index among AMD's GPUs; without one: 0", NO_ATOMICS,
		.bare = "0", REGS),
	LOCAL(MEMORY, "gpu-path", 0, CHOICE, gpu_path, 0, 3,
		"auto|dmabuf|peermem|data_direct", "how the NIC reaches GPU memory",
		NO_ATOMICS, OURS, REGS),
	LOCAL_TEXT(PEER, "auth", 0, auth, "METHOD",
		"both ends prove that they have the same key: none or key:FILE", OURS, CONNS),
	LOCAL(PEER, "timeout", 0, SECONDS, timeout_ns, 1000000, SECONDS_MAX, "S",
		"give up after S seconds without progress", OURS, CONNS),
	LOCAL(PEER, "connect-timeout", 0, SECONDS, connect_timeout_ns, 0, SECONDS_MAX, "S",
		"client: try to connect for S seconds", OURS, CONNS),
	LOCAL(SERVING, "ready-fd", 0, NUMBER, ready_fd, 0, 1 << 20, "FD",
		"write the TCP port to this file descriptor when clients can connect",
		.idle = TRAIT_CLIENT, OURS, CONNS),
	LOCAL_FLAG(SERVING, "persistent", 0, persistent,
		"serve one client after another, until a signal", SERVER, OURS, CONNS),
	LOCAL(SERVING, "wait", 0, SECONDS, wait_ns, 0, SECONDS_MAX, "S",
		"exit when no client has come for S seconds; 0: wait forever", SERVER, OURS,
		CONNS),
	LOCAL(INFO, "wait_destroy", 0, SECONDS, wait_destroy_ns, 0, SECONDS_MAX, "S",
		"keep the QPs for S seconds after the run"),
	LOCAL_TEXT(INFO, "report-counters", 'W', counters, "LIST",
		"show how these counters of both ends' ports changed (comma-separated, or all)",
		ONE_ROW),
	LOCAL(SERVING, "max-memory", 0, SIZE, max_memory_bytes, 1, UINT64_C(1) << 50, "BYTES",
		"most buffer memory that a client may use here", SERVER, OURS, CONNS),
	LOCAL(SERVING, "max-duration", 0, SECONDS, max_duration_ns, 1000000, SECONDS_MAX, "S",
		"longest time that one client is served", SERVER, OURS, CONNS),
	LOCAL(SERVING, "max-qps", 0, NUMBER, max_qps, 1, 65536, "N",
		"most QPs that a client may use", SERVER, OURS, CONNS),
	LOCAL_FLAG(INFO, "check", 0, check, "check this host and its ports for problems, and exit",
		OURS),
	LOCAL_FLAG(INFO, "version", 'V', version, "show the version, and exit", CALLS),
	LOCAL(INFO, "help", 'h', FILE, help, 0, 0, "all",
		"show the common options, or all, and exit", CALLS),

	OUTPUT_FLAG(OUTPUT, "report_gbits", 0, gbits,
		"bandwidth in Gb/s (10^9 bits) instead of MiB/s", NO_LAT, REGS),
	OUTPUT_FLAG(OUTPUT, "report-both", 0, both_rows,
		"with -b: a row for each direction, not the sum", NO_LAT),
	OUTPUT_FLAG(OUTPUT, "noPeak", 'N', no_peak,
		"do not measure the peak: no clock read in the loop", BW),
	OUTPUT(OUTPUT, "output", 0, CHOICE, only, 0, 3, "all|bandwidth|latency|message_rate",
		"print only this number", ONE_ROW),
	OUTPUT_FLAG(OUTPUT, "report-histogram", 'H', histogram, "also print all samples, sorted",
		LAT),
	OUTPUT_FLAG(OUTPUT, "histogram", 0, histogram_only,
		"add a histogram to the --json document", LAT, OURS),
	OUTPUT_FLAG(OUTPUT, "report-unsorted", 'U', unsorted,
		"also print all samples, in order of time", LAT),
	OUTPUT(OUTPUT, "json", 0, FILE, json, 0, 0, "FILE",
		"write a JSON document (rdmark-json(5)) to FILE or stdout", OURS, CALLS),
	OUTPUT_TEXT(OUTPUT, "json-lines", 0, json_lines, "FILE",
		"append the JSON document to FILE, as one line", OURS, CALLS),
	OUTPUT(OUTPUT, "csv", 0, FILE, csv, 0, 0, "FILE",
		"write a CSV row for each result to FILE or stdout",
		ONE_ROW, OURS, CALLS),
	OUTPUT(OUTPUT, "title", 0, TEXT, title, 0, 200, "TEXT",
		"what this run is, for --json and --json-lines", OURS, CALLS),
	OUTPUT_FLAG(OUTPUT, "out_json", 0, out_json, "write perftest's JSON to perftest_out.json",
		ONE_ROW),
	OUTPUT_TEXT(OUTPUT, "out_json_file", 0, out_json_file, "FILE",
		"write perftest's JSON to FILE", ONE_ROW),
	OUTPUT(OUTPUT, "interval", 0, SECONDS, interval_ns, 1000000, SECONDS_MAX, "S",
		"also report every S seconds", ONE_ROW, OURS),
	OUTPUT(REPEAT, "repeat", 0, NUMBER, repeat, 1, 10000, "N",
		"measure each size N times; the row shows the median run", ONE_ROW, OURS),
	OUTPUT_TEXT(REPEAT, "until-stable", 0, until_stable, "PERCENT",
		"repeat until the mean is known to PERCENT, and both halves of the runs agree",
		ONE_ROW, OURS),
	OUTPUT_FLAG(OUTPUT, "cpu_util", 0, cpu_util, "measure the CPU use of both ends", ONE_ROW),
	OUTPUT(OUTPUT, "format", 0, CHOICE, format, 0, 1, "table|perftest",
		"how to print; perftest: like the ib_* programs", OURS),
	OUTPUT(OUTPUT, "explain", 0, CHOICE, explain, 0, 1, "off|on",
		"say after the table what limits the bandwidth, or what went wrong", ONE_ROW, OURS),
	OUTPUT(OUTPUT, "prove", 0, INDEX, prove_s, 1, 600, "SECONDS",
		"after the row, run it again with one thing changed at a time, for up to 10 s, and say "
		"what limits it", BW, NO_CELLS, .bare = "10", OURS),
	OUTPUT_FLAG(OUTPUT, "quiet", 0, quiet, "print only results and errors", OURS, CALLS),
	OUTPUT_FLAG(INFO, "verbose", 'v', verbose,
		"show everything chosen at both ends, and why", OURS, CALLS),
	OUTPUT_TEXT(LIMITS, "min-bw", 0, min_bw, "RATE",
		"least average bandwidth of a row: 90 (Gb/s) or 12.5GB/s", BW, ONE_ROW, OURS),
	OUTPUT_TEXT(LIMITS, "max-lat", 0, max_lat, "[P=]US",
		"highest latency of a row: 5 (the mean) or p99=8,max=40", LAT, OURS),
	OUTPUT_TEXT(LIMITS, "min-msgrate", 0, min_msgrate, "N",
		"least message rate of a row: messages/s, or 2M", ONE_ROW, OURS),
	OUTPUT_TEXT(LIMITS, "max-loss", 0, max_loss, "PERCENT",
		"most messages of a row that may be lost: 0.1 (percent) or 1/1000; with -c UC or UD",
		.never = FETCHING | TRAIT_CELLS, OURS),
	OUTPUT_TEXT(LIMITS, "limit_bw", 'w', limit_bw, "RATE",
		"same as --min-bw, in the unit of the table", BW, ONE_ROW),
	OUTPUT_TEXT(LIMITS, "limit_msgrate", 'y', limit_msgrate, "MPPS",
		"same as --min-msgrate, in millions per second", ONE_ROW),
	OUTPUT(LIMITS, "within", 0, NUMBER, within_percent, 1, 100, "PERCENT",
		"GPU memory must be within PERCENT of host memory", CELLS),
	OUTPUT(LIMITS, "expected-gbps", 0, NUMBER, expected_gbps, 0, 1000000, "GBPS",
		"what host memory should reach; 0: no expectation. Default: 95 % of the line rate",
		CELLS),
	OUTPUT_FLAG(IGNORED, "perform_warm_up", 0, ignored,
		"ignored: there is a warm-up unless --warmup=0"),
	OUTPUT(IGNORED, "typical_pkt_size", 0, NUMBER, ignored, 0, NUMBER_MAX, "BYTES",
		"ignored: it is for --rate_limit_type=HW"),
	OUTPUT_FLAG(IGNORED, "CPU-freq", 'F', ignored,
		"ignored: rdmark's clock does not depend on it"),
	OUTPUT_FLAG(IGNORED, "comm_rdma_cm", 'z', ignored,
		"ignored: the ends always talk over TCP"),
	OUTPUT(IGNORED, "margin", 'f', SECONDS, ignored_ns, 0, SECONDS_MAX, "S",
		"ignored: the warm-up is separate, all of --duration is measured"),
	OUTPUT_FLAG(IGNORED, "disable_dynamic_polling", 0, ignored,
		"ignored: rdmark does not adapt how many completions it polls"),
	OUTPUT_FLAG(IGNORED, "dont_xchg_versions", 0, ignored,
		"ignored: another version does not disturb the run"),
	OUTPUT_FLAG(IGNORED, "use_old_post_send", 0, ignored,
		"ignored: --post-api chooses the calls of a bandwidth test"),

	/* other spellings, most of them perftest's: what is in people's scripts must work */
	ALIAS("report-histogrm", 0, FLAG, "report-histogram"),
	ALIAS("source_ip", 'j', TEXT, "bind_source_ip"), /* until 6.06 */
	ALIAS("tclass", 0, NUMBER, "tos"),
	ALIAS("numa_node", 0, NODE, "numa"),
	ALIAS("disable_numa", 0, FLAG, "numa=none"),
	ALIAS("data_validation", 0, FLAG, "verify"),
	ALIAS("use_rocm_dmabuf", 0, FLAG, "use_cuda_dmabuf"),
	ALIAS("use_data_direct", 0, FLAG, "gpu-path=data_direct"),
	ALIAS("time", 0, SECONDS, "duration", OURS), /* iperf3's */
	ALIAS(NULL, 0, FLAG, NULL), /* the end */
};
/* clang-format on */

_Static_assert(sizeof(table) / sizeof(table[0]) <= OPTION_ROWS_MAX, "raise OPTION_ROWS_MAX");

const struct option_row *options_table(void)
{
	return table;
}
