#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Thresholds; their words are in golden_words/gate.txt. Those here are far from any figure that a device can have, except on the stand-in,
# whose link has the speed that it is told.

load ../lib/rdmark

# No thread lacks its CPU, on a busy machine neither, but for those of the last tests.
setup_file() {
	need_device
	export SIMVERBS_CPU=200
}

# judged STATUS PROGRAM ARG…: the client's exit status; the server always ends well. The threads had $client_had and
# $server_had percent of their CPUs.
judged() {
	SIMVERBS_CPU=${server_had-200} server "$2" --json=s.json
	SIMVERBS_CPU=${client_had-200} client "${@:2}" --json=c.json
	finish server
	ended client "$1"
	ended server 0
	json s.json '.status == "ok"'
	if [[ $1 == 77 ]]; then
		json c.json '.status == "cannot_tell" and .error.code == "unavailable" and .error.exit_status == 77
			and .error.from_peer == false and (.results | length) > 0'
	elif [[ $1 == 6 ]]; then
		json c.json '.status == "below_threshold" and .error.code == "threshold" and .error.exit_status == 6
			and .error.stage == "judge" and .error.from_peer == false and (.results | length) > 0'
	else
		json c.json '.status == "ok" and .error == null'
	fi
	# The rows of both directions have a word behind them.
	if [[ $* == *--report-both* ]]; then
		grep -Eq '^ [0-9]+ .* client_to_server( !)?$' client.out || fail 'no row'
	else
		row client.out
	fi
}

@test "--min-bw: reached, and not; the row is shown in either case" {
	judged 0 write_bw -n 50 -s 4096 --min-bw 1k
	judged 6 write_bw -n 50 -s 4096 --min-bw 900T
	judged 6 send_bw -n 50 -s 4096 --min-bw=90000TiB/s
	# nothing else counts
	judged 0 send_bw -n 50 -s 4096 --min-bw=0.001MiB/s --min-msgrate 1
}

# bats test_tags=long,core
@test "--max-lat: the mean if nothing else is named; each of several" {
	local p n
	judged 0 send_lat -n 50 --max-lat 9000000
	judged 6 send_lat -n 50 --max-lat 0.0001
	judged 6 send_lat -n 50 --max-lat min=0.0001,mean=9000000,p50=0.0002,max=0.0003
	judged 6 write_lat -a -n 2 --max-lat min=0.0001,max=0.0003
	while read -r p n; do
		judged 6 write_lat -n "$n" --max-lat "max=9000000,$p=0.0001"
		says client.err ": $p " 'more than 0.0001 us'
	done <<-'END'
		min 20
		p50 20
		p90 100
		p99 1000
		p99.9 10000
		p99.99 100000
		max 20
		mean 20
	END
	judged 0 write_lat -n 10000 \
		--max-lat min=9000000,p50=9000000,p90=9000000,p99=9000000,p99.9=9000000,stdev=9000000
}

@test "--max-lat of a percentile: a server needs no samples for it; with -D it is measured, or missed" {
	# a server judges nothing, so it needs nothing
	server send_lat --max-lat p99.99=5
	client send_lat -n 50
	finish server
	ended client 0
	ended server 0
	judged 6 send_lat -D 0.01 --max-lat p99.99=9000000
	says client.err '2 B, ping-pong: p99.99 not measured: it needs 100000 samples, the run had ' '(--max-lat). Fix: use a longer -D'
	judged 0 read_lat -D 0.5 --max-lat p50=9000000 # no other end must be on a CPU for each of 20
}

@test "--min-msgrate, in bandwidth and latency tests" {
	judged 0 send_bw -n 50 -s 64 --min-msgrate 10
	judged 6 send_bw -n 50 -s 64 --min-msgrate 900G
	says client.err 'message rate ' 'less than 900000.00 M messages/s (--min-msgrate 900G)'
	judged 6 write_lat -n 50 --min-msgrate=900G
}

@test "-w and -y: perftest's, in the unit of the table; each alone fails the run; on both ends alike" {
	judged 6 send_bw -n 50 -s 64 -w 90000000
	says client.err 'less than 90000000.00 MiB/s (-w/--limit_bw 90000000)'
	judged 6 send_bw -n 50 -s 64 --report_gbits --limit_bw=90000000
	says client.err 'less than 90000000.00 Gb/s'
	judged 6 send_bw -n 50 -s 64 -y 900000
	says client.err 'less than 900000.00 M messages/s (-y/--limit_msgrate 900000)'
	judged 6 send_bw -n 50 -s 64 -w 0.00001 -y 900000
	judged 0 write_bw -n 50 -s 64 -w 0.00001 -y 0.0000001
	judged 0 write_bw -n 50 -s 64 -w 0 -y 0
	server write_bw -w 90000000 -y 900000
	client write_bw -n 50 -s 64 -w 0.00001
	finish server
	ended client 0
	ended server 0
}

# bats test_tags=core
@test "-a: every row must pass, and all are measured" {
	[[ ! ${RDMARK_PRELOAD-} ]] || export SIMVERBS_GBPS=50 # two messages alone may seem faster than the port
	judged 6 write_bw -a -n 2 --min-bw 900T
	rows client.out
	((${#rows[@]} == 23)) || fail 'not 23 rows'
	# A row whose thread lacked its CPU is no figure.
	grep -Eq ' (1[2-9]|2[0-3]) of 23 rows miss the threshold; this is the first' client.err || fail 'not most of 23 rows'
	judged 0 write_bw -a -n 2 --min-bw 0.0000001
}

@test "both directions and the other one: the row says which" {
	judged 6 send_bw -n 50 -s 64 -b --min-bw 900T
	grep -Eq '64 B, (client to server: bandwidth |server to client: bandwidth |both ways: there is no rate )' client.err || fail 'it does not say which row'
	judged 6 send_bw -n 50 -s 64 -b --report-both --min-bw 900T
	says client.err '64 B, client to server: bandwidth ' '2 of 2 rows'
	judged 6 write_bw -n 50 -s 64 --reversed --min-bw 900T
	says client.err '64 B, server to client: bandwidth '
	judged 0 send_bw -n 50 -s 64 --threads 2 --min-bw 1k
}

@test "the other forms: ib_ names, --output, --csv" {
	ln -s "$RDMARK_BIN/write_bw" ib_write_bw
	server "$PWD/ib_write_bw"
	client "$PWD/ib_write_bw" -n 50 -s 64 -w 90000000
	finish server
	ended client 6
	says client.err ': 64 B, client to server: bandwidth '
	row client.out
	server write_bw
	client write_bw -n 50 -s 64 --output=bandwidth --min-bw 900T
	finish server
	ended client 6
	[[ $(wc -l <client.out) == 1 ]]
}

# bats test_tags=core
@test "interrupted: what was measured until then is judged" {
	local signal
	for signal in TERM INT; do # which the client dies of, whatever the run came to
		server send_bw
		start_client send_bw -D 30 -s 64 --interval 0.1 --min-bw 900T --json=c.json
		until grep -qs ' MiB/s, ' client.err; do
			kill -0 "${pid[client]}"
		done
		kill -$signal "${pid[client]}"
		finish client server
		ended client $((128 + $(kill -l $signal)))
		json c.json '.status == "below_threshold" and .results[0].interrupted == true'
		says client.err '64 B, client to server, interrupted: bandwidth'
	done
}

# stopped PROGRAM ARG…: the server, by SIGTERM while the client measures.
stopped() {
	server "$1"
	start_client "$1" -D 30 -s 64 --interval 0.1 --json=c.json "${@:2}"
	until_says client.err ' s: '
	kill -TERM "${pid[server]}"
	finish client server
	ended server 0
	row client.out
}

@test "the server is stopped meanwhile: a part of a run that reaches the threshold passes none" {
	local threshold option
	for threshold in --min-bw=1k --min-msgrate=1 '-w 0.001'; do
		read -ra option <<<"$threshold"
		stopped send_bw "${option[@]}"
		ended client 3
		says client.err 'send_bw: the server was interrupted before the run ended.' \
			"The part that was measured meets -" 'Fix: measure again'
		json c.json '.status == "failed" and .error.code == "peer" and .error.exit_status == 3
			and .results[0].interrupted'
	done
	stopped send_lat --max-lat 9000000
	ended client 3
	says client.err 'meets --max-lat'
	stopped send_bw --min-bw=900T # what it misses, it misses
	ended client 6
	json c.json '.status == "below_threshold" and .results[0].interrupted'
	stopped send_bw
	ended client 0
	server send_bw
	start_client send_bw -s 64 --interval 0.1 --run_infinitely --min-bw=1k # it has no other end
	until_says client.out '^ 64 '
	kill -TERM "${pid[server]}"
	finish client server
	ended client 0
}

@test "a run that fails for another reason keeps that one" {
	server send_bw -s 64
	client send_bw -s 65 --min-bw 900T
	ended client 2
	serves_next send_bw -s 64
	says_no client.err judging
}

# Whoever is kept from the CPU gets less of such a link, never more.
# bats test_tags=core
@test "on a link of known speed: more than it has, and what it has in any case" {
	[[ ${RDMARK_PRELOAD-} == *simverbs* ]] || skip 'the link has whatever speed it has'
	export SIMVERBS_GBPS=2
	judged 0 write_bw -s 1m -n 100 --min-bw 0.1
	judged 6 write_bw -s 1m -n 100 --min-bw 2.1
	judged 6 write_bw -s 1m -n 100 -w 251 # 2 Gb/s are 238.4 MiB/s
	judged 0 write_bw -s 1m -n 100 -w 12
	# small messages do not fill it, large ones do
	judged 6 write_bw -a -n 20 --min-bw 1.8
	json c.json '.error.cause | test("^[0-9]+ of 23 rows")'
	json c.json '(.error.cause | capture("^(?<n>[0-9]+) of").n | tonumber)
		== ([.results[] | select(.bandwidth_gbps < 1.8)] | length)'
}

@test "latency on a link of known latency" {
	[[ ${RDMARK_PRELOAD-} == *simverbs* ]] || skip 'the link has whatever latency it has'
	export SIMVERBS_LATENCY_NS=2000000
	judged 6 send_lat -n 30 --max-lat p50=1900
	judged 0 send_lat -n 30 --max-lat min=50000
}

@test "a threshold that is missed by a run that lacked its CPU: disturbed, 77, however far; met in spite of it, 0" {
	[[ ${RDMARK_PRELOAD-} == *simverbs* ]] || skip 'the CPU is had for as long as it is had'
	export SIMVERBS_GBPS=2 # of 100
	local client_had=10 bw=(write_bw -s 1m -n 30)
	judged 77 "${bw[@]}" --min-bw 2.1 --json=c.json
	"$RDMARK_BIN/rdmark-prom" c.json -o c.prom
	grep -q '^rdmark_up{.*} 1$' c.prom && ! grep -q '^rdmark_thresholds_met{' c.prom || fail "$(<c.prom)"
	judged 0 "${bw[@]}" --min-bw 0.01
	judged 77 "${bw[@]}" --min-bw 90
	judged 77 "${bw[@]}" --min-bw 101 # though no link carries more than it does
	judged 77 "${bw[@]}" --min-bw 2.1 --max-loss 0 -c UC --write_with_imm
	judged 77 "${bw[@]}" --min-bw 0.01 --min-msgrate 1G
	says client.err 'message rate '
	says_no client.err 'bandwidth '
	judged 77 write_bw -s 512k,1m -n 30 --min-bw 2.1
	says client.err 'at -s 524288: disturbed: '
	client_had=97 # by 1 % of its rate, or half of it
	judged 77 "${bw[@]}" --min-bw 4
	client_had=99
	judged 6 "${bw[@]}" --min-bw 4
}

@test "the same of latencies, and of either end's thread" {
	[[ ${RDMARK_PRELOAD-} == *simverbs* ]] || skip 'the CPU is had for as long as it is had'
	export SIMVERBS_LATENCY_NS=2000000
	local client_had=10
	judged 77 send_lat -n 30 --max-lat p50=1900
	judged 77 send_lat -D 0.1 --max-lat p99=9000000
	says client.err 'disturbed: 2 B, ping-pong: p99 not measured: it needs '
	judged 77 send_lat -n 30 --max-lat p50=1000000,stdev=0.0001
	says client.err 'disturbed: 2 B, ping-pong: stdev '
	judged 77 send_lat -n 30 --min-msgrate 300
	judged 0 send_lat -n 30 --max-lat 9000000
	local server_had=20
	judged 77 send_lat -n 30 --max-lat p50=1900
	says client.err 'client: the thread got 10' 'server: the thread got 20'
	unset client_had
	judged 77 send_lat -n 30 --max-lat 0.0001
	says client.err 'may be why: server: the thread got 20'
	judged 0 send_lat -n 30 --max-lat 9000000
}
