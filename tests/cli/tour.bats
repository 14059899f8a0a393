#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# rdmark HOST: the tour of a host with one server; and rdmark list.

load ../lib/rdmark
load ../lib/gpu

setup_file() { need_device; }

# tour [OPTION…]
tour() {
	start tour rdmark "$host" -p "$port" "$@"
	finish tour
}

# Until the tour's first test takes signals itself; its process is in $other then.
until_begun() {
	local end=$((SECONDS + deadline))
	until other=$(pgrep -P "${pid[tour]}" -x send_lat || pgrep -g "${pid[tour]}" -x send_lat); do
		((SECONDS < end)) || fail 'no test has begun'
		read -r -t 0.02 <> <(:) || true
	done
	until_says "/proc/$other/status" '^SigBlk:.*[2367abef]$'
}

over() { # the server is told to end, and does
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
}

# bats test_tags=rxe
@test "a line for each test, from one server; the documents in a file, which compares with itself" {
	driver none
	server 'rdmark server'
	tour -n 200 --json-lines=tour.json
	ended tour 0
	(($(wc -l <tour.out) == 7)) || fail 'not a head and six lines'
	[[ $(head -n 1 tour.out) == 'test       size     median[us]    p99[us]  rate[Gb/s]  of link[%]  ±[%]' ]] || fail "$(<tour.out)"
	grep -Eq '^send_lat +2 B +[0-9.]+ +- +- +- ' tour.out || fail 'no send_lat'
	grep -Eq '^send_bw +64 KiB +- +- +[0-9.]+ +([0-9.]+|-) ' tour.out || fail 'no send_bw'
	[[ $(awk 'NR > 1 { print $1 }' tour.out | paste -sd ' ') == 'send_lat send_bw write_lat write_bw read_lat read_bw' ]] || fail "$(<tour.out)"
	says tour.err "rdmark: client $(uname -n): $DEVICE port 1" "rdmark: server $(uname -n): $DEVICE"
	(($(grep -vcE '^rdmark: [a-z]*_[a-z]*: (disturbed \(!\): |stalls took )' tour.err) == 2)) || fail 'more is said'
	json_lines tour.json 'map(.test) == ["send_lat", "send_bw", "write_lat", "write_bw", "read_lat", "read_bw"] and (.[:3] | all(.results[0].messages == 200))'
	start compare rdmark compare tour.json tour.json --within 1
	finish compare
	ended compare 0
	over
	(($(grep -cE ' us on average$| MiB/s \([0-9.]+ Gb/s\)$' server.err) == 6)) || fail 'the server has not served six'
}

@test "--prove: the row with the least of its link is run again, and tried" {
	driver none
	server 'rdmark server'
	tour -n 200 --prove=1
	ended tour 0
	(($(grep -c '^[a-z_]* *[0-9]' tour.out) >= 6)) || fail 'the tour is not whole'
	grep -Eq '^\$ (send|write|read)_bw .* --prove=1$' tour.out && grep -q '^changed ' tour.out || fail "$(<tour.out)"
	over
}

@test "rdmark server is such a server; a test is what its program is without options" {
	driver none
	printf '#!/bin/sh\nexec "$RDMARK_BIN/rdmark" server "$@"\n' >serve # the command comes first
	chmod 755 serve
	start_server server "$PWD/serve"
	tour --json-lines=tour.json
	ended tour 0
	json tour.json 'map(.experiment.iters) == [1000, 1000, 1000, 5000, 1000, 1000]' -s
	over
}

# bats test_tags=core
@test "the options go to all tests as they are; one that refuses them says why, and the others run" {
	driver none
	server 'rdmark server'
	tour -n 200 -q 2 --json-lines=tour.json
	ended tour 0
	[[ $(sed -n 's/^\([a-z_]*\) *refused: \(.*\)$/\1 \2/p' tour.out | paste -sd ';') == 'send_lat -q/--qp cannot be used in send_lat, a latency test;write_lat -q/--qp cannot be used in write_lat, a latency test;read_lat -q/--qp cannot be used in read_lat, a latency test' ]] || fail "$(<tour.out)"
	[[ $(awk 'NR == 1 || NR == 3 { print $1 }' tour.out | paste -sd ' ') == 'test send_bw' ]] || fail "$(<tour.out)"
	json tour.json 'map(.test) == ["send_bw", "write_bw", "read_bw"] and all(.experiment.qp == 2)' -s
	tour -n 200 -c RC,UD
	ended tour 0
	grep -q '^send_lat .*(the largest of 2 rows)$' tour.out || fail "$(<tour.out)"
	grep -q '^write_lat  refused: -c/--connection UD cannot be used with write_lat$' tour.out || fail "$(<tour.out)"
	tour -n 5 -a -N
	ended tour 0
	grep -Eq '^write_bw +8 MiB .* \(the largest of 23 rows\)$' tour.out || fail "$(<tour.out)"
	over
}

# bats test_tags=core
@test "a program that is killed has its line, and ends the tour" {
	[[ ${RDMARK_PRELOAD-} == *simverbs* ]] || skip 'the stand-in kills it'
	driver none
	server 'rdmark server'
	SIMVERBS_FAULT=kill:5 start tour rdmark "$host" -p "$port" -n 50
	finish tour
	ended tour 137
	grep -qx 'send_lat   not measured (exit status 137)' tour.out || fail "$(<tour.out)"
	over
}

@test "a device that lacks what is asked for: the test's line says so, and its status is the tour's" {
	[[ ${RDMARK_PRELOAD-} == *simverbs* ]] || skip 'the stand-in has no XRC'
	driver none
	server 'rdmark server'
	tour -n 200 -c XRC
	ended tour 77
	says tour.out "send_lat   not measured (exit status 77): $DEVICE does not support transport XRC"
	over
}

@test "an error of the client's own command line is said as such, before anything runs" {
	driver none
	server 'rdmark server'
	local words want
	while IFS='|' read -r words want; do
		read -ra words <<<"$words"
		tour "${words[@]}"
		ended tour 2
		says tour.err "rdmark: $want"
		says_no tour.err 'start `rdmark server'
		[[ ! -s tour.out ]] || fail "$(<tour.out)"
	done <<-'END'
		--iterz 5|unknown option --iterz. Fix: did you mean --iters?
		-n 0|invalid value '0' for -n/--iters
		--threads|--threads needs a value
		--bind_source_ip|--bind_source_ip needs a value
		node7|unexpected argument after the host: node7
		--persistent|--persistent cannot be used in a client
		--json=tour.json|--json cannot be used in a tour. Fix: name a test: rdmark send_bw HOST; --json-lines=FILE keeps
		--out_json -n 5|--out_json cannot be used in a tour
		--run_infinitely|--run_infinitely cannot be used in a tour
		-n 200 --help|--help cannot be used in a tour
		-D 1 --interval 0.2|--interval cannot be used in a tour
		--plain|--plain cannot be used in send_lat
		--tests read_bw|unknown option --tests. Fix: name a test: rdmark read_bw HOST
	END
	[[ ! -e tour.json ]]
	tour --json-lines=no/such/folder
	ended tour 1
	says tour.err 'writing no/such/folder: No such file or directory'
	says_no tour.out send_bw
	tour -d no_such_device
	ended tour 2
	says tour.err "there is no RDMA device 'no_such_device'"
	says_no tour.err 'start `rdmark server'
	over
}

@test "what disturbed a row is said in words, below it, as the test itself does" {
	[[ ${RDMARK_PRELOAD-} ]] || skip 'on the stand-in'
	driver none
	server 'rdmark server'
	SIMVERBS_FAULT=page:1 tour -n 2000 --json-lines=tour.json
	ended tour 0
	grep -q '^write_lat .*  !$' tour.out || fail "$(<tour.out)"
	json tour.json '.[2].results[0].quality | .disturbed and (.text | test("^client: .*page faults in"))' -s
	local text
	text=$(jq -sr '.[2].results[0].quality.text' tour.json)
	says tour.err "rdmark: write_lat: disturbed (!): $text"
	says tour.err "rdmark: write_bw: disturbed (!): "
	over
}

@test "stalls, which no percentile shows, are said in words, too" {
	[[ ${RDMARK_PRELOAD-} && ! ${RDMARK_SANITIZED-} && $(uname -m) == x86_64 ]] || skip 'no scripted time here'
	driver none
	export SIMVERBS_NULL=1
	SIMVERBS_SCRIPT=recv=200 server 'rdmark server'
	mkdir own
	cp "$RDMARK_BIN/rdmark" own/ # which starts the programs beside it: one, whose time alone is scripted
	printf '#!/bin/sh\nSIMVERBS_SCRIPT="post=0 poll=10 completion=0 clock=5 rtt=2000*999,224000" exec "%s" "$@"\n' "$RDMARK_BIN/send_lat" >own/send_lat
	chmod 755 own/send_lat
	start tour "$PWD/own/rdmark" "$host" -p "$port" -n 1000 --warmup 0
	finish tour
	says tour.err 'rdmark: send_lat: stalls took 10.0 % of the run, and percentiles count each once'
	over
}

@test "a threshold that one test misses for certain counts, whatever cannot be told of another" {
	[[ ${RDMARK_PRELOAD-} == *simverbs* ]] || skip 'the CPU is had for as long as it is had'
	driver none
	export SIMVERBS_CPU=200
	SIMVERBS_CPU=10 server 'rdmark server' # which takes no part in a READ
	tour -n 200 --max-lat 0.5
	ended tour 6
	says tour.err 'read_lat: 2 B'
	over
}

@test "with --repeat a line is the median run" {
	driver none
	server 'rdmark server'
	tour -n 200 --repeat 3 --json-lines=tour.json
	ended tour 0
	local gbps
	gbps=$(jq 'select(.test == "send_bw") | .summaries[0].median_run as $run
		| .results | map(select(.run == $run))[0].bandwidth_gbps' tour.json)
	LC_ALL=C grep -Eq "^send_bw .* $(LC_ALL=C printf '%.2f' "$gbps") " tour.out || fail "not the median run's $gbps"
	over
}

@test "an option without its value does not take the host for one, which would make it a server" {
	start tour rdmark 127.0.0.1 -p 1 --connect-timeout 0 --bind_source_ip
	finish tour
	ended tour 2
}

@test "a server of one test: what is to be started there" {
	server write_bw
	tour --connect-timeout 0.5
	waits_on
	ended tour 2
	says tour.err 'different tests' 'Fix: run the same program on both ends, or `rdmark server`, which serves every test'
	says_no tour.err 'was not measured'
}

@test "a server that ends on the way ends the tour" {
	server send_lat
	tour -n 200 --connect-timeout 0.5
	finish server
	ended_with_any tour 3 4
	says tour.out 'send_lat   2 B'
	says tour.err "send_bw of $host was not measured"
}

# bats test_tags=core
@test "Ctrl-C: the test that runs ends, and with it the tour" {
	driver none
	server 'rdmark server'
	start tour rdmark "$host" -p "$port" -D 30
	until_begun
	kill -INT "${pid[tour]}"
	finish tour
	ended tour 130
	says tour.err 'interrupted by SIGINT'
	says_no tour.out send_bw
	over
}

@test "Ctrl-C on a loop of tours ends the loop; so does a SIGINT that one test alone gets" {
	local other
	driver none
	server 'rdmark server'
	loop=$'for i in 1 2 3; do echo >>rounds; "$@"; done; echo >after'
	start tour "$(command -v perl)" -e 'setpgrp; exec @ARGV' bash -c "$loop" loop "$RDMARK_BIN/rdmark" "$host" -p "$port" -D 30
	until_begun
	kill -INT -- "-${pid[tour]}"
	finish tour
	ended tour 130
	[[ $(wc -l <rounds) == 1 && ! -e after ]] || fail 'the loop went on'
	start tour rdmark "$host" -p "$port" -D 30
	until_begun
	kill -INT "$other"
	finish tour
	ended tour 130
	says_no tour.out send_bw
	over
}

# bats test_tags=core
@test "with a GPU the tour ends with gdr_bw's verdict, and list shows how far it is" {
	[[ ${RDMARK_PRELOAD-} ]] || skip 'on the stand-in'
	driver
	server 'rdmark server'
	tour -n 200
	(($(wc -l <tour.out) == 8)) || fail 'not a head and seven lines'
	grep -Eq '^gdr_bw +(PASS|WARN|FAIL|INCONCLUSIVE) ' tour.out || fail 'no verdict'
	tour -n 200 --repeat 2
	grep -q '^gdr_bw     refused: --repeat cannot be used without --plain$' tour.out || fail "$(<tour.out)"
	over
	start list rdmark list
	finish list
	ended list 0
	says list.out "$DEVICE" 'GPU 0 ' "    to $DEVICE" 'GPUDirect RDMA: yes'
	start list rdmark list --json
	finish list
	ended list 0
	jq -e --arg device "$DEVICE" '(.ports[0].device == $device) and (.ports[0].gids | length > 0) and
		(.gpus[0] | .index == 0 and .gpudirect and .paths[0].device == $device)' list.out >/dev/null || fail 'not so'
}

@test "list without a GPU says why" {
	driver none
	start list rdmark list
	finish list
	ended list 0
	says list.out "$DEVICE"
	[[ $(tail -n 1 list.out) =~ ^'no GPU. This machine or container has no NVIDIA driver library (libcuda.so.1: '[^.]*'.'$ ]] || fail 'more than the reason'
	start list rdmark list --json
	finish list
	jq -e '.gpus == [] and (.ports[0].firmware | type == "string")' list.out >/dev/null || fail 'not so'
}
