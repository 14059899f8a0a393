#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# The conditions of a measurement, made bad on purpose: what is said of them is compared with what the
# kernel says of the same in other words, or with what was put there.

load ../lib/rdmark

setup_file() { need_device; }

# disturbed END: the client's row has its mark, which is its last field, and a line on stderr says
# which end, in one word what, and PART of the text.
disturbed() {
	local end=$1 word=$2 part=$3 number='^ [0-9]+( +([0-9]+(\.[0-9]+)?|-))+ !$'
	json c.json '.results[0].quality | .disturbed and (.reasons | index($reason))' --arg reason "${end}_$word"
	[[ $(tail -n 1 client.out) =~ $number ]] || fail 'no row with a mark behind it'
	grep -q "^[a-z_]*: .*disturbed (!): .*$end: [^;]*$part" client.err || fail "not told: $part"
}

# A busy loop on CPU $cpu, until the test ends.
busy() {
	start busy "$(command -v taskset)" -c "$cpu" "$BASH" -c 'while :; do :; done'
}

cpu_of_ours() { cpu=$(taskset -cp $$ | sed 's/.*[:,] *//; s/.*-//'); }

# bats test_tags=plain
@test "a thread that shares its CPU: the share, as --cpu_util has it of the process" {
	not_sanitized 'they have threads of their own'
	local program cpu
	cpu_of_ours
	busy
	for program in write_bw send_lat; do
		server "$program"
		through=(taskset -c "$cpu")
		client "$program" -D 1 -s 64 --cpu_util --json=c.json --csv=c.csv
		through=()
		finish server
		ended client 0
		# The thread has used nearly all that the process has: the others 50 ms at most, and 15 %.
		json c.json '.results[0] | (.quality.on_cpu_percent / 100 * .quality.observed_s) as $thread | (.cpu_user_s + .cpu_system_s) as $all
			| .quality.on_cpu_percent < 80 and $thread > $all * 0.85 - 0.05 and $thread < $all * 1.02 + 0.001 and .quality.preempted > 5'
		disturbed client cpu 'the thread got [0-9.]* % of its CPU (other tasks preempted it [0-9]* times)'
		[[ $(tail -n +2 c.csv | head -n 1) == *,1,*client_cpu* ]] || fail "$(<c.csv)"
		rm c.csv
	done
}

@test "perftest's form has no mark, and says nothing; --quiet has the mark alone" {
	local cpu
	cpu_of_ours
	busy
	server write_bw
	through=(taskset -c "$cpu")
	client write_bw -D 0.3 -s 64 --format perftest --json=c.json
	finish server
	through=()
	ended client 0
	json c.json '.results[0].quality.disturbed'
	says_no client.out '!' disturbed
	silent client.err
	server write_bw
	through=(taskset -c "$cpu")
	client write_bw -D 0.3 -s 64 --quiet
	finish server
	through=()
	[[ $(tail -n 1 client.out) == *' !' ]] || fail 'no mark'
	silent client.err
}

# bats test_tags=plain
@test "the other end's thread: known here, and told as its" {
	not_sanitized 'they have threads of their own'
	local cpu
	cpu_of_ours
	busy
	through=(taskset -c "$cpu")
	server send_lat --json=s.json
	through=()
	client send_lat -D 1 --json=c.json
	finish server
	ended client 0
	json c.json '.results | length == 1 and (.[0] | has("by_end") | not)'
	json c.json '.results[0].quality.other_end.on_cpu_percent < 80'
	disturbed server cpu 'the thread got '
	[[ $(jq -c .results c.json) == "$(jq -c .results s.json)" ]] || fail 'the two ends tell different results'
}

@test "-e: who sleeps is off the CPU by its own will" {
	pair send_bw -e -D 0.3 -s 64 --json=c.json
	json c.json '[.results[] | ends.quality] | length == 2 and all(.on_cpu_percent == null and (.reasons | all(endswith("_cpu") | not)))'
	json c.json '.results[0].quality | .observed_s >= 0.2 and .preempted >= 0'
}

# bats test_tags=plain
@test "page faults, as many as there were: one for every fifth message, and with -D for every one" {
	not_sanitized 'they have page faults of their own'
	server send_lat
	SIMVERBS_FAULT=page:5 client send_lat -n 5000 --json=c.json
	finish server
	ended client 0
	json c.json '.results[0].quality.minor_faults | . >= 1000 and . < 1020'
	disturbed client page_faults '1[0-9]* page faults in '
	server send_lat
	SIMVERBS_FAULT=page:1 client send_lat -D 0.5 --json=c.json
	finish server
	ended client 0
	json c.json '.results[0] | .quality.minor_faults - .messages | . >= 0 and . < 20'
	disturbed client page_faults ' page faults in '
}

# Put VALUE into the counter NAME of the tree DIR, in place: who reads sees the old one or this.
count() {
	local file
	for file in "$1"/class/infiniband/*/ports/1/"$2"; do
		printf '%s' "$3" 1<>"$file"
	done
}

# tree DIR: a sysfs of the stand-in's devices in DIR.
tree() { "${RDMARK_PRELOAD%/*}/simverbs-sysfs" "$1" || return; }

# bats test_tags=core
@test "retransmissions, losses, timeouts, a receiver that was not ready: the share, and whose" {
	[[ ${RDMARK_PRELOAD-} ]] || skip 'the counters of a real port cannot be set'
	tree "$PWD/tree"
	count tree hw_counters/local_ack_timeout_err 100
	server send_bw
	export RDMARK_SYSFS=$PWD/tree SIMVERBS_SYSFS=$PWD/tree
	start_client send_bw -D 30 -s 64 --interval 0.1 --json=c.json
	unset RDMARK_SYSFS SIMVERBS_SYSFS
	until_says client.err '^[a-z_]*: .*messages/s'
	count tree hw_counters/rnr_nak_retry_err 77
	count tree counters/port_xmit_discards 333
	count tree hw_counters/out_of_sequence 12
	count tree hw_counters/local_ack_timeout_err 110
	kill -TERM "${pid[client]}"
	finish client server
	ended client 143
	json c.json '.results[0] as $r | $r.quality
		| .retransmissions == 10 and .ack_timeouts == 10 and .receiver_not_ready == 77 and .losses == 333 and .out_of_order == 12
		and ((.retransmitted_percent * $r.messages / 100 - 10) | fabs) < 1e-4
		and ((.lost_percent * $r.messages / 100 - 333) | fabs) < 1e-4
		and ((.receiver_not_ready_percent * $r.messages / 100 - 77) | fabs) < 1e-4
		and ((10 * 4.096e-6 * 16384) as $waited | if .observed_s < $waited then .ack_timeout_percent == null
			else ((.ack_timeout_percent / 100 * .observed_s - $waited) | fabs) < 1e-4 end)
		and .other_end.retransmissions == null and (.reasons | index("client_ack_timeouts"))'
	disturbed client ack_timeouts '10 ACK timeouts'
}

@test "a quarter of the messages sent again is said so" {
	[[ ${RDMARK_PRELOAD-} ]] || skip 'the counters of a real port cannot be set'
	tree "$PWD/tree"
	printf 0 >"$(echo tree/class/infiniband/*/ports/1/hw_counters)/packet_seq_err"
	server write_bw
	export RDMARK_SYSFS=$PWD/tree SIMVERBS_SYSFS=$PWD/tree
	# 3 messages a millisecond, so that it is known how many there will be
	start_client write_bw -D 4 -s 64 --rate_limit 3000p --interval 0.1 --json=c.json
	unset RDMARK_SYSFS SIMVERBS_SYSFS
	until_says client.err '^[a-z_]*: .*messages/s'
	count tree hw_counters/packet_seq_err 3000
	finish client server
	ended client 0
	json c.json '.results[0] as $r | $r.quality.retransmitted_percent - 3000 / $r.messages * 100 | fabs < 1e-7'
	json c.json '.results[0].quality.retransmitted_percent | . > 20'
	disturbed client retransmissions '3000 retransmissions, '
}

@test "both ends on one port: what it counted is said once, of this host" {
	[[ ${RDMARK_PRELOAD-} ]] || skip 'the counters of a real port cannot be set'
	tree "$PWD/tree"
	printf 0 >"$(echo tree/class/infiniband/*/ports/1/hw_counters)/packet_seq_err"
	export RDMARK_SYSFS=$PWD/tree SIMVERBS_SYSFS=$PWD/tree
	server write_bw
	start_client write_bw -D 60 -s 64 --rate_limit 3000p --interval 0.1 --json=c.json
	unset RDMARK_SYSFS SIMVERBS_SYSFS
	until_says client.err '^[a-z_]*: .*messages/s'
	count tree hw_counters/packet_seq_err 3000
	kill -TERM "${pid[client]}"
	finish client server
	ended client 143
	json c.json '.results[0].quality | [.reasons[] | select(endswith("retransmissions"))] == ["client_retransmissions", "server_retransmissions"]'
	says client.err 'disturbed (!): this host: 3000 retransmissions, '
	(($(grep -o retransmissions client.err | grep -c .) == 1)) || fail 'said twice'
}

# bats test_tags=core
@test "threads: each has its own, and the row the worst of them" {
	pair write_bw --threads 2 -D 0.3 -s 64 --json=c.json
	json c.json '[.results[].by_thread[].quality] as $q | ($q | length) == 2
		and .results[0].quality.on_cpu_percent == ([$q[].on_cpu_percent] | min)
		and .results[0].quality.minor_faults == ([$q[].minor_faults] | max)
		and all($q[]; has("disturbed") and (.observed_s > 0.1))'
}

@test "both directions and --repeat: the row and its document say the same" {
	pair write_bw -b -D 0.3 -s 4096 --json=c.json
	json c.json '.results | length == 1 and (.[0].quality | has("disturbed") and (has("other_end") | not))'
	json c.json '(.results[0] | select(.measured_by == "both").quality.on_cpu_percent)
		== ([.results[].by_end[].quality.on_cpu_percent] | min)'
	pair send_lat --repeat 3 -n 500 --json=c.json
	row client.out 9
	json c.json '(.results | length) == 3 and all(.results[].quality; has("disturbed"))'
	json c.json '.summaries[0].median_run as $run | .results[] | select(.run == $run) | .quality.disturbed == $mark' \
		--argjson mark "$(grep -q ' !$' client.out && echo true || echo false)"
}
