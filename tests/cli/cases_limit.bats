#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Cases from public reports of RDMA tools, of what limits a run. The two ends have devices of their own
# names, since what a port sends to itself need not cross a link.

load ../lib/rdmark

setup_file() {
	need_scripted_time
	[[ ${RDMARK_PRELOAD-} ]] || skip_file 'the cases are devices and clocks of the stand-in'
}

real='post=2 poll=20 completion=5 clock=10'

# scripted WORDS PROGRAM ARG…: a pair in null mode, the client by this script; its document in c.json.
scripted() {
	SIMVERBS_NULL=1 server "$2"
	SIMVERBS_DEVICES='sim1 gid.0=v2/127.0.0.1' SIMVERBS_NULL=1 SIMVERBS_SCRIPT="$real $1" \
		client "${@:2}" --json=c.json
	finish server
	ended client 0
	ended server 0
}

# put FILE TEXT: who reads it sees the old text or this.
put() {
	printf '%s\n' "$2" >"$1.new"
	mv "$1.new" "$1"
}

# made DIR NAME: a sysfs with the device NAME, whose interface is eth9, and counters that stand at 0.
made() {
	local counter
	rm -rf "$1"
	SIMVERBS_DEVICES="$2 netdev=eth9 gid.0=v2/127.0.0.1/eth9 ${words-}" SIMVERBS_SYSFS=$PWD/$1 "${RDMARK_PRELOAD%/*}/simverbs-sysfs" "$1"
	for counter in rnr_nak_retry_err packet_seq_err local_ack_timeout_err out_of_buffer out_of_sequence; do
		put "$1/class/infiniband/$2/ports/1/hw_counters/$counter" 0
	done
	mkdir "$1/ethtool"
	put "$1/ethtool/eth9" $'rx_prio0_pause_duration: 0\nrx_prio3_pause_duration: 0\nrx_global_pause_duration: 0'
}

# at DIR NAME COMMAND…: with that tree and device.
at() {
	RDMARK_SYSFS=$PWD/$1 SIMVERBS_SYSFS=$PWD/$1 SIMVERBS_DEVICES="$2 netdev=eth9 gid.0=v2/127.0.0.1/eth9 ${words-}" "${@:3}"
}

# measured COMMAND PROGRAM [ARG…]: COMMAND changes the counters while the run goes on.
measured() {
	made mine mlx5_0
	made theirs mlx5_1
	at theirs mlx5_1 server "$2"
	SIMVERBS_SCRIPT=${script-} at mine mlx5_0 start_client "$2" -D 60 --interval 0.1 --json=c.json "${@:3}"
	until_says client.err '^[a-z_]*: [0-9.]* s: ' # both ends have begun to count
	"$1"
	until_says client.err '^[a-z_]*: [1-9][0-9.]* s: '
	kill -INT "${pid[client]}"
	finish client server
}

# limit FILTER: true of what is said to limit the run.
limit() { json c.json ".results[0].limit | $1"; }

@test "case 4: a rate above the link's is no figure of the link: limited by nothing, disturbed, never a pass" {
	export SIMVERBS_DEVICES='mlx0 link=ib lid=1 sm_lid=1 speed=SDR width=1'
	export SIMVERBS_NULL=1 # fast, however little of a CPU it gets
	local arguments
	for arguments in 'write_bw -D 0.5' 'send_bw -c UC -s 4096 -D 0.5'; do
		# shellcheck disable=SC2086 # words
		pair $arguments --json=c.json
		limit '.bound_by == "unknown" and (.certain | not) and .strength == "cannot_tell"'
		json c.json '.results[0] | any(.diagnosis[]; .code == "above_link" and .level == "warn")
			and .quality.disturbed and (.quality.reasons | index("above_link"))'
		says client.err 'is above the 1.9' 'loopback inside the adapter'
		says_no client.err 'limited by'
	done
	server write_bw
	client write_bw -D 0.5 --min-bw 1
	finish server
	ended client 77
	says client.err 'not judged: ' 'Gb/s is above the 2 Gb/s of the link (--min-bw 1)'
}

@test "case 11: a client's thread that other tasks leave a part of its CPU: these, not its code" {
	local cpu busy=()
	cpu=$(taskset -pc $$ | sed 's/.*[:,-] *//')
	for _ in 1 2 3 4; do
		taskset -c "$cpu" sh -c 'while :; do :; done' 3>&- &
		busy+=($!)
	done
	export SIMVERBS_NULL=1
	server write_bw
	through=(taskset -c "$cpu")
	client write_bw -s 2 -D 2 --numa none --json=c.json
	kill "${busy[@]}"
	finish server
	limit '.bound_by == "core" and .strength == "may_be" and .end == "client" and .share > 0.3'
	says client.err "the client's CPU, which other tasks used, too: " 'give it a CPU of its own'
	says_no client.err '--threads'
}

@test "case 12: what was sent again is at least what may limit the row" {
	lost() {
		put mine/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err 100000
		put theirs/class/infiniband/mlx5_1/ports/1/hw_counters/out_of_sequence 100000
	}
	export SIMVERBS_GBPS=0.2 # a full queue lasts for longer than a busy machine takes from the threads
	measured lost write_bw -s 65536
	limit '.bound_by == "loss" and .strength == "may_be"'
	says client.err 'may be limited by packets to the server that were missing or out of order: 100000 NAKs' 'check PFC'
	json c.json '.results[0].quality.reasons | index("client_retransmissions")'
}

@test "case 13: a schedule next to the link's rate, for which the sender waits: the schedule" {
	scripted 'gap=200' write_bw -s 4096 -n 4000 --rate_limit 94g
	limit '.bound_by == "schedule" and .certain'
	says client.err 'limited by --rate_limit: '
}

@test "case 13: a schedule just above what the path carries: the send queue is not full yet, so it may be" {
	scripted 'gap=3360 latency=2000' write_bw -s 4096 -n 4000 --rate_limit 10g
	limit '.bound_by == "schedule" and .strength == "may_be" and .share < 0.98'
	says_no client.err ': limited by'
}

@test "case 14: a schedule that the window cannot reach: the window" {
	scripted 'gap=10 latency=20970' write_bw -n 1000 --rate_limit 50g -t 2
	limit '.bound_by == "window" and (.share > 0.9) and .end == "client"'
	says client.err 'limited by the window: 2 messages of 64 KiB in flight'
	says_no client.err 'limited by --rate_limit'
}

@test "case 14: one message in flight through a port that is capped to 1 Gb/s: the window only may be" {
	scripted 'gap=524000 latency=2000' write_bw -n 20 -t 1 --warmup 2
	limit '.bound_by != "link" and (.certain | not)'
	says_no client.err ': limited by'
}

@test "case 15: NAKs and RNR NAKs on the port, and nothing queues: the window" {
	others() {
		put mine/class/infiniband/mlx5_0/ports/1/hw_counters/rnr_nak_retry_err 300
		put mine/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err 1000
		put theirs/class/infiniband/mlx5_1/ports/1/hw_counters/out_of_buffer 300
	}
	export SIMVERBS_NULL=1 script="$real latency=2000000 gap=10"
	measured others send_bw -t 4
	limit '.bound_by == "window"'
	says client.err 'limited by the window: 4 messages of 64 KiB in flight'
}

@test "case 16: which priority the run's packets have is not known, so pause only may be what limits it" {
	paused() { put mine/ethtool/eth9 $'rx_prio0_pause_duration: 500000\nrx_prio3_pause_duration: 0\nrx_global_pause_duration: 0'; }
	export SIMVERBS_GBPS=0.2
	measured paused send_bw --dscp 26
	json c.json '.results[0].snapshot.client[0].changed.pause_received_us.change == 500000'
	limit '.bound_by != "pause" or .strength == "may_be"'
	json c.json 'any(.results[0].diagnosis[]; .code == "paused" and .strength == "may_be")'
	says_no client.err ': limited by pause'
	# of the whole link, too: priorities are not told from it
	paused() { put mine/ethtool/eth9 $'rx_prio0_pause_duration: 0\nrx_prio3_pause_duration: 0\nrx_global_pause_duration: 500000'; }
	measured paused send_bw
	json c.json 'any(.results[0].diagnosis[]; .code == "paused" and .strength == "may_be")'
}

@test "case 17: READs and atomics behind few outstanding requests: the window of these" {
	scripted 'gap=10 latency=20000' read_bw -o 1 -n 500
	limit '.bound_by == "window" and .end == "client"'
	says client.err 'limited by the window: 1 message of 64 KiB in flight' '--outs'
	scripted 'gap=10 latency=20000' atomic_bw -o 2 -n 500
	limit '.bound_by == "window" and .certain'
	says client.err 'limited by the window: 2 messages of 8 B in flight'
}

# bats test_tags=root
@test "case 35: a cgroup's CPU limit kept the thread from its CPU: that, and no other tasks" {
	local through=(unshare -m sh -c 'mount --bind cgroup /sys/fs/cgroup && exec "$@"' sh)
	mkdir cgroup
	"${through[@]}" true 2>unshare.err || skip "no mount namespaces: $(<unshare.err)"
	put cgroup/cpu.max '30000 100000'
	put cgroup/cpu.stat $'nr_throttled 5\nthrottled_usec 100000'
	stopped() { put cgroup/cpu.stat $'nr_throttled 52\nthrottled_usec 900000000'; }
	export SIMVERBS_CPU=30
	measured stopped send_bw
	json c.json '.results[0].quality | .stopped == 47 and .stopped_s > 0.5 and (.reasons | index("client_cpu_limit"))
		and (.reasons | index("client_cpu") | not)'
	says client.err "its cgroup's CPU limit stopped it 47 times for "
	says_no client.err 'other tasks' taskset
	limit '.bound_by == "core" or .bound_by == "receiver" or .bound_by == "unknown"'
	start client write_bw --check
	finish client
	says client.out "the cgroup's CPU limit is 30000 100000 " 'which stopped it 52 times for 900 s'
}

@test "case 36: software, whose receiver was not ready: before the CPU that it lacked" {
	late() {
		put mine/class/infiniband/mlx5_0/ports/1/hw_counters/rnr_nak_retry_err 60
		put theirs/class/infiniband/mlx5_1/ports/1/hw_counters/out_of_buffer 60
	}
	export SIMVERBS_GBPS=0.02 SIMVERBS_CPU=60 words=vendor=0xffffff
	measured late send_bw -t 4 --warmup 2
	limit '.bound_by == "receiver" and .strength == "may_be"'
	says client.err 'may be limited by the receiver: the server was not ready for 60 messages' 'use a larger -r'
}

@test "case 37: a queue that is always full at a rate that nobody told of: not the CPU that the thread lacked" {
	export SIMVERBS_CPU=50
	scripted 'gap=524000 latency=2000 poll=5000' write_bw -n 1000 -t 16
	limit '.bound_by == "unknown" and .strength == "cannot_tell"'
	says_no client.err 'limited by'
}

@test "case 38: messages without a receive, of WRITEs and READs: other QPs of the port" {
	others() { put mine/class/infiniband/mlx5_0/ports/1/hw_counters/rnr_nak_retry_err 36; }
	local program
	export SIMVERBS_GBPS=0.02 SIMVERBS_CPU=200
	for program in write_bw read_lat; do
		measured others $program -t 1 --warmup 2
		json c.json '.results[0] | (.quality.receiver_not_ready == 36) and .quality.receiver_not_ready_percent == null
			and (.quality.reasons | index("client_receiver_not_ready") | not)
			and any(.diagnosis[]; .code == "other_traffic" and (.text | test("^36 messages of other QPs")))'
	done
}

@test "case 39: ACKs that did not come in time are late or lost; of software the next step is no switch's" {
	late() { put mine/class/infiniband/mlx5_0/ports/1/hw_counters/local_ack_timeout_err 100000; }
	export SIMVERBS_GBPS=0.2 SIMVERBS_CPU=200
	measured late write_bw -s 65536
	limit '.bound_by == "loss" and .strength == "may_be"'
	says client.err 'may be limited by late or lost ACKs: none came in time 100000 times' 'switch ports'
	says_no client.err 'packet loss'
	export words=vendor=0xffffff
	measured late write_bw -s 65536
	says client.err 'may be limited by late or lost ACKs: ' 'which is software' 'may be disturbed (!): '
	says_no client.err PFC switch
}
