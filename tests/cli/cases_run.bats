#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Cases from public reports of RDMA tools, of what is said about a run and of how it is started.

load ../lib/rdmark

setup_file() {
	need_device
	[[ ${RDMARK_PRELOAD-} ]] || skip_file 'the cases are devices and faults of the stand-in'
}

# counting DIR: a sysfs of the stand-in's devices, in which a port can lose packets, for what is started next.
counting() {
	"${RDMARK_PRELOAD%/*}/simverbs-sysfs" "$1"
	counter "$1" 0
	export RDMARK_SYSFS=$PWD/$1 SIMVERBS_SYSFS=$PWD/$1
}

# counter DIR N [NAME]: so many packets were sent again; or what NAME counts.
counter() {
	local of=$1/class/infiniband/sim0/ports/1/hw_counters
	printf '%s\n' "$2" >"$of/new"
	mv "$of/new" "$of/${3:-packet_seq_err}"
}

# why: what the client's document says of the failure.
why() { jq -r '.error.message' c.json; }

@test "case 6: old scripts whose ends differ: under ib_ names the client decides, with a line at both" {
	local end
	ln -s "$RDMARK_BIN/write_bw" ib_write_bw
	server ./ib_write_bw -D 30 -s 4096
	client ./ib_write_bw -n 50 -s 64 --json=c.json
	finish server
	ended client 0
	ended server 0
	json c.json '.experiment | .iters == 50 and .duration_s == null and .size_bytes == 64'
	local differ='--size: server 4 KiB, client 64 B; --duration: server 30 s, client none'
	for end in client server; do
		[[ $(grep -c "^ib_write_bw: the two ends differ in $differ; the client decides\$" $end.err) == 1 ]]
	done
	# what another option of the client overrules is not told as if it counted
	server ./ib_write_bw -n 40 -s 64
	client ./ib_write_bw -D 0.1 -a
	finish server
	ended client 0
	grep -Eq -e '--size: server 64 B, client none; --(all: server off, client on|iters: server 40, client none;)' client.err
	# what else they differ in is refused, and so it is under our own names
	server ./ib_write_bw -q 2
	client ./ib_write_bw -n 50
	ended client 2
	waits_on
	server write_bw -D 30
	client ./ib_write_bw -n 50
	ended client 2
	says client.err 'the two ends differ in --duration: server 30 s, client none'
	waits_on
}

# bats test_tags=core
@test "case 7: an adapter that breaks above 64 KiB: the rows before, size, vendor error" {
	export SIMVERBS_DEVICES='rocep1s0f0 speed=HDR gid.3=v2/127.0.0.1/e0'
	server write_bw
	SIMVERBS_FAULT=wc:280:11:157 client write_bw -a -n 20 --json=c.json
	finish server
	ended client 1
	json c.json '.results[-1].message_bytes == 65536 and (.error | .completion_status == "remote operation error" and .vendor_error == 157)'
	[[ $(why) == *'request of 128 KiB on QP'*'vendor error 0x9d'* ]]
}

@test "case 8: more ACK timeouts than the run has time for: their count, and no share of the time" {
	export SIMVERBS_DEVICES='sim0 gid.1=v2/127.0.0.1'
	counting tree
	counter tree 0 local_ack_timeout_err
	server send_bw
	start_client send_bw -D 30 -s 64 --interval 0.1 --json=c.json
	until_says client.err '^[a-z_]*: [0-9.]* s: '
	counter tree 100000 local_ack_timeout_err
	kill -TERM "${pid[client]}"
	finish client server
	json c.json '.results[0].quality | .ack_timeouts == 100000 and .ack_timeout_percent == null
		and (.reasons | index("client_ack_timeouts"))'
	says client.err '100000 ACK timeouts: packets or ACKs were lost or late'
	! grep -E '[0-9]{3,} % of the time' client.err
}

# bats test_tags=core
@test "case 10: no completion after others: the firewall only before the first" {
	export SIMVERBS_DEVICES='sim0 gid.1=v2/127.0.0.1'
	server send_bw
	SIMVERBS_FAULT=delay:1:3600000 client send_bw -n 100 --timeout 3 --json=c.json
	finish server
	ended client 4
	[[ $(why) == *'(0 messages completed before)'*'UDP port 4791'* ]]
	server send_bw
	SIMVERBS_FAULT=delay:350:3600000 client send_bw -n 20 -a --timeout 3 --json=c.json
	finish server
	ended client 4
	[[ $(why) == *'('[1-9]*' messages completed before)'*'came through before'* ]]
	[[ $(why) != *4791* ]] || fail "$(why)"
}

@test "case 21: a threshold in per cent of the link, and told in the unit in which it was given" {
	export SIMVERBS_DEVICES='sim0 speed=EDR gid.1=v2/127.0.0.1' SIMVERBS_GBPS=4 SIMVERBS_CPU=200
	missed() { # [ARG…] TEXT: --min-bw=ARG is missed, and TEXT says so
		server write_bw
		client write_bw -s 64k -n 500 --min-bw "$1" --json=c.json
		finish server
		ended client 6
		[[ $(why) =~ $2 ]] || fail "$(why)"
	}
	missed 90% 'bandwidth [0-9.]+ % of the link.s 100 Gb/s, less than 90 % \(--min-bw 90%\)'
	missed 90Gbps 'bandwidth [0-9.]+ of 90 Gb/s \([0-9.]+ %\) \(--min-bw 90Gbps\)'
	json c.json '(.results[0].bandwidth_gbps / 0.9) as $percent | .error.message
		| capture("bandwidth [0-9.]+ of 90 Gb/s .(?<percent>[0-9.]+) %").percent | tonumber | near($percent; 0.1)'
	missed 12.5GB/s 'bandwidth 0[0-9.]+ of 12.5 GB/s'
	missed 9000MiB/s 'bandwidth [0-9.]+ of 9000 MiB/s'
	missed 0.5T 'bandwidth 0[0-9.]+ of 0.5 Tb/s'
	server write_bw
	client write_bw -s 64k -n 500 --min-bw 0.1%
	finish server
	ended client 0
	server write_bw
	client write_bw -n 10 --min-bw 101%
	ended client 2
	kill "${pid[server]}"
}

@test "case 21: per cent of a link whose rate is not known: cannot tell, 77" {
	export SIMVERBS_DEVICES='rxe0 vendor=0xffffff gid.1=v2/127.0.0.1/e0' SIMVERBS_GBPS=4 SIMVERBS_CPU=200
	server write_bw
	client write_bw -s 64k -n 500 --min-bw 90% --json=c.json
	finish server
	ended client 77
	[[ $(why) == *'not judged'* ]]
	json c.json '.results[0].bandwidth_gbps > 0'
	server write_bw
	client write_bw -s 64k -n 500 --min-bw 90%,90 --json=c.json
	ended client 2
	kill "${pid[server]}"
	server write_bw
	client write_bw -s 64k -n 500 --min-bw 90% --min-msgrate 1G
	finish server
	ended client 6
}

# bats test_tags=core
@test "case 24: an endless client of a persistent server is ended at its limit, and both ends say so" {
	local more
	for more in '' --reversed -b; do
		server write_bw --persistent --max-duration 1
		client write_bw --run_infinitely -D 0.3 -s 64 $more --json=c.json
		ended client 0
		kill -TERM "${pid[server]}"
		finish server
		ended server 0
		says client.err 'ended after 1 s, the --max-duration of the server'
		says server.err 'write_bw: ended at --max-duration, '
		json c.json '.results[0].bandwidth_gbps > 0 and .error == null'
	done
}

@test "case 10: packets that a switch's MTU stops are not lost by chance" {
	server send_bw
	SIMVERBS_FAULT=wc:11:12:129 client send_bw -a -n 20 --warmup 0 -m 4096 --json=c.json
	finish server
	ended client 3
	[[ $(why) == *'No packet with more than 1 KiB of data has come through.'* ]] || fail "$(why)"
}

@test "case 22: two servers on one port, a client before its server, and a client's loop" {
	local i
	server send_bw
	start second send_bw -p "$port"
	finish second
	ended second 1
	says second.err 'already' "-p 0"
	start_client send_bw -n 10 --connect-timeout 60
	finish client server
	ended client 0
	start_client send_bw -n 10 --connect-timeout 60 # its server has ended; it waits for the next
	until_says client.err 'waiting for a server'
	start server send_bw -p "$port"
	finish client server
	ended client 0
	ended server 0
	server "rdmark server"
	for i in 1 2 3; do
		client send_bw -n 10
		ended client 0
	done
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

# bats test_tags=core
@test "case 23: a misspelt or forgotten command is the command, or the nearest; a host only if it resolves" {
	local word
	for word in pairs plot; do
		[[ $("$RDMARK_BIN/rdmark" $word --help) == "$("$RDMARK_BIN/rdmark-$word" --help)" ]]
	done
	[[ $("$RDMARK_BIN/rdmark" version) == "$("$RDMARK_BIN/rdmark" --version)" ]]
	[[ $("$RDMARK_BIN/rdmark" help) == "$("$RDMARK_BIN/rdmark" --help)" ]]
	start check rdmark check --json
	finish check
	start tested write_bw --check --json
	finish tested
	[[ ${status[check]} == "${status[tested]}" ]]
	cmp <(jq -S '.findings | map(.code)' check.out) <(jq -S '.findings | map(.code)' tested.out)
	for word in 'chek:did you mean `rdmark check`?' 'srever:did you mean `rdmark server`?' 'comapre:did you mean `rdmark compare`?' \
		'sent_bw:did you mean `rdmark send_bw`?' 'nosuch.invalid:`rdmark` alone shows the commands'; do
		! getent hosts "${word%:*}" || continue # a site's search domain
		start other rdmark "${word%:*}"
		finish other
		ended other 2
		says other.err 'no command of rdmark, and no host' "Fix: ${word##*:}"
	done
}
