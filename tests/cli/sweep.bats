#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2030,SC2031,SC2154 # what lib/rdmark.bash sets and reads
#
# Options with several values: all combinations over one connection, and every form of the results
# says which is which.

load ../lib/rdmark

setup_file() { need_device; }

# The first fields of the rows of FILE, by blanks, without the header.
rows() { awk -v n="$2" 'NR > 1 { for (i = 1; i <= n; i++) printf "%s%s", $i, i < n ? " " : "\n" }' "$1"; }

# bats test_tags=core
@test "a list and a range: one header, a row for each, at both ends; the option given last is the fastest" {
	server send_bw --json=s.json
	client send_bw -n 20 -q 1,4 -s 64:1k:x4 --json=c.json --csv=c.csv
	finish server
	ended client 0
	ended server 0
	for end in client server; do
		[[ $(rows $end.out 3) == $'1 64 20\n1 256 20\n1 1024 20\n4 64 80\n4 256 80\n4 1024 80' ]] || fail "$end"
		[[ $(head -n 1 $end.out) == ' qp '*' #bytes '* && $(grep -c '#bytes' $end.out) == 1 ]] || fail "$end's header"
		(($(grep -c '1 QP, .* messages of 64 B, the first of' $end.err) == 1 && $(grep -c ' messages of ' $end.err) == 1)) ||
			fail "$end: the banner"
	done
	says client.err 'the first of 6 experiments'
	for file in c.json s.json; do
		json $file '[.results[] | [.varied.qp, .qps, .varied.size_bytes, .message_bytes]]
			== [[1,1,64,64],[1,1,256,256],[1,1,1024,1024],[4,4,64,64],[4,4,256,256],[4,4,1024,1024]]
			and all(.results[]; (.varied | keys) == ["qp", "size_bytes"])'
	done
	[[ $(grep ,client, c.csv | sed 's/.*,//') == \
		$'qp=1 size=64\nqp=1 size=256\nqp=1 size=1024\nqp=4 size=64\nqp=4 size=256\nqp=4 size=1024' ]] || fail "$(<c.csv)"
	[[ $(awk -F, 'NR == 1 { n = NF } NF != n' c.csv) == '' ]] || fail 'columns'
}

@test "what came of each point; its results and its intervals are found by what was varied" {
	server send_bw --json=s.json
	client send_bw -D 0.1 -t 16,32 -s 64,4096 --repeat 2 --interval 10 --json=c.json
	finish server
	ended client 0
	for file in c.json s.json; do
		json $file '[.points[] | [.varied.tx_depth, .varied.size_bytes]] == [[16,64],[16,4096],[32,64],[32,4096]]
			and (.effective == .points[-1].effective)'
	done
	json c.json '[.points[].effective.tx_depth] == [16, 16, 32, 32] and all(.points[]; .effective.mtu_bytes >= 256)'
	json c.json '[.results[] | {varied, run}] == [.intervals[] | {varied, run}] and (.intervals | length == 8)
		and ([.intervals[].message_bytes] | unique == [64, 4096])'
	pair send_bw -D 0.1 -q 1,2 -s 64 --interval 10 --json
	jq -es '[.[:-1][].interval.varied.qp] == [1, 2] and (.[-1].points | length) == 2' client.out >/dev/null || fail "$(<client.out)"
	pair send_bw -D 0.1 -s 64 --interval 10 --json=c.json
	json c.json '(has("points") | not) and all(.intervals[]; has("varied") or has("run") | not)'
}

@test "sizes alone need no column; one value needs nothing" {
	pair send_lat -n 20 -s 2,8 --json=c.json
	[[ $(rows client.out 2) == $'2 20\n8 20' ]] || fail 'rows'
	[[ $(head -n 1 client.out) == ' #bytes '* ]] || fail 'header'
	pair send_lat -n 20 -s 2 --json=one.json --csv=one.csv
	json one.json 'all(.results[]; has("varied") | not)'
	grep -q ',$' one.csv || fail 'a CSV row without a sweep has an empty last field'
}

# bats test_tags=core
@test "both directions, threads, a transport; --repeat, and its summaries" {
	pair write_bw -b -n 20 -c RC,UC --threads 1,2 --json=c.json
	[[ $(rows client.out 2) == $'RC 1\nRC 2\nUC 1\nUC 2' ]] || fail 'rows'
	json c.json '[.results[] | [.varied.connection, .varied.threads]]
		== [["RC",1],["RC",2],["UC",1],["UC",2]]'
	pair send_lat -n 20 -t 1,2 --repeat 2 --json=c.json
	[[ $(rows client.out 2) == $'1 2\n2 2' ]] || fail 'rows'
	json c.json '[.summaries[].varied.tx_depth] == [1, 2]'
}

@test "--verify at every point; a depth that is not given is each size's own" {
	pair write_bw -n 20 -s 64,64k --verify=200 --json=c.json
	json c.json '[.results[] | select(.measured_by == "client") | .verification.errors] == [0, 0]'
	server write_bw
	proxy
	client write_bw -n 20 -s 64,64k
	finish server proxy
	ended client 0
	[[ $(grep '"type":"hello"' conversation | grep -o '"tx-depth":[0-9]*') == $'"tx-depth":192\n"tx-depth":128' ]] ||
		fail 'the depths that the client asked for'
}

@test "a server of every test: one sweep is one client and one document" {
	server 'rdmark server' --json=s.json
	client read_bw -n 20 -q 1,2 -s 64,128
	ended client 0
	client send_lat -n 20 -s 2,4
	ended client 0
	kill -TERM "${pid[server]}"
	finish server
	ended server 0
	(($(grep -c ' read_bw: ' server.err) == 1 && $(grep -c ' send_lat: ' server.err) == 1)) || fail 'a line for each client'
	json s.json 'length == 2 and ([.[].status] == ["ok", "ok"]) and ([.[0].results[].varied.qp] | unique) == [1, 2]' -s
}

@test "the same list at both ends is no difference, another one is" {
	server send_bw -q 1,2
	client send_bw -n 20 -q 1,2
	finish server
	ended client 0
	ended server 0
	server send_bw -q 1,2
	client send_bw -n 20 -q 1,3
	finish server
	ended client 2
	ended server 2
	says client.err 'at -q 3: the server' 'the two ends differ in --qp'
	[[ $(rows client.out 2) == '1 65536' ]] || fail 'what was measured is shown'
}

# bats test_tags=core
@test "what the server refuses is named, and what was measured is kept" {
	server send_bw --max-qps 2
	client send_bw -n 20 -q 1,2,3 --json=c.json --csv=c.csv
	finish server
	ended client 2
	ended server 2
	says client.err 'send_bw: at -q 3: the server' 'requests 3 QPs, but this server allows 2'
	says server.err 'requests 3 QPs, but this server allows 2'
	[[ $(rows client.out 1) == $'1\n2' && $(rows server.out 1) == $'1\n2' ]] || fail 'rows'
	json c.json '.status == "failed" and (.error.message | startswith("at -q 3: ")) and ([.results[].qps] | unique) == [1, 2]'
	(($(grep -c ,client, c.csv) == 2)) || fail 'CSV'
}

@test "a threshold is missed by a point, which is named; the others are measured" {
	export SIMVERBS_CPU=200 # a run that lacked its CPU misses nothing
	server send_bw
	client send_bw -n 20 -s 64 -q 1,2 --min-bw 1000t
	finish server
	ended client 6
	ended server 0
	says client.err 'at -q 1: 64 B, ' '2 of 2 rows'
}

# bats test_tags=core
@test "an interrupted sweep keeps its rows, and starts no other" {
	server send_bw
	start_client send_bw -n 20,1000000000,30 --json=c.json
	until_says client.out '^ 20 '
	until_says server.out '^ 20 '
	kill -INT "${pid[client]}"
	finish client server
	ended_with_any client 0 130
	ended_with_any server 0
	[[ $(rows client.out 1) == '20' || $(rows client.out 1) == $'20\n1000000000' ]] || fail 'rows'
	json c.json '.status == "interrupted" and .results[0].varied.iters == 20'
}

@test "--max-duration is of the whole sweep" {
	server send_bw --max-duration 4
	client send_bw -D 100ms -q 1:60:+1
	finish server
	ended client 2
	ended server 2
	says client.err 'at -q ' '--max-duration'
	[[ $(rows client.out 1) == 1* ]] || fail 'rows'
}

# At both ends there is memory and a QP for one experiment only.
# bats test_tags=core
@test "sizes are measured on the same QPs and memory; what else varies has its own" {
	local other
	export SIMVERBS_FAIL=ibv_alloc_pd:2+:ENOMEM,ibv_create_qp:2+:ENOMEM,ibv_reg_mr:2+:ENOMEM
	pair send_bw -n 20 -s 64,8k,64,2 --repeat 2 --json=c.json
	json c.json '([.results[] | select(.run == 1) | .message_bytes] == [64, 8192, 64, 2]) and all(.results[]; .message_bytes == .varied.size_bytes)'
	json c.json '[.points[].varied.size_bytes] == [64, 8192, 64, 2] and ([.summaries[].message_bytes] == [64, 8192, 64, 2])'
	pair write_lat -n 20 -s 8k,8,64 --json=c.json
	json c.json '[.results[].message_bytes] == [8192, 8, 64]'
	pair send_bw -c UD -n 20 -s 64,1k --json=c.json
	json c.json '[.results[].message_bytes] == [64, 1024]'
	for other in '-t 16,32' '-n 20,30' '-l 1,2'; do
		server send_bw
		# shellcheck disable=SC2086 # words
		client send_bw -n 20 $other -s 64
		[[ ${status[client]} == 1 ]] || fail "$other needs another QP"
		says client.err "at ${other%% *} ${other##*,}" 'creating the QPs: ibv_alloc_pd'
		finish server
	done
}

@test "of a list of sizes, datagrams are cut, and each says so; larger ones have memory of their own" {
	pair send_bw -c UD -n 20 -t 32 -s 64,64k --json=c.json
	json c.json '[.results[].message_bytes] | .[0] == 64 and .[1] < 65536'
	json c.json '[.points[].effective | has("asked_bytes")] == [false, true]'
	says client.err 'message size limited to '
	pair write_bw -n 2 -t 32 -s 64,16m --json=c.json
	json c.json '[.results[] | select(.measured_by == "client") | .message_bytes] == [64, 16777216]'
}

# bats test_tags=core
@test "sizes that no client of ours lists, and rounds of none of them, are refused" {
	local sizes
	listen_in send_bw
	server send_bw
	for sizes in '[]' '[64]' '64' '[64, 0]' '[64, "x"]' '[64, 8388609]' '[range(129)]'; do
		stranger say "$(jq -c ". + {sizes: $sizes}" <<<"$hello")" hear error
		ended stranger 0
	done
	client send_bw -n 5
	finish server
	ended client 0
	ended server 0
	for sizes in '{at: 2, message_bytes: 64}' '{at: 1, message_bytes: 65536}' '{at: 0, message_bytes: 128}'; do
		server send_bw
		stranger say "$(jq -c '. + {sizes: [.experiment.size, 64]}' <<<"$hello")" hear welcome say "$qps" hear qps \
			say "$(jq -nc "{type: \"round\", target: 1, warmup: true} + $sizes")" hear error
		ended stranger 0
		finish server
	done
}

# bats test_tags=core
@test "a client that varies what is no option of the experiment is dropped" {
	listen_in send_bw
	jq -c '. + ({varied: ("qp", [], [7], ["colour"], ["port"], ["events"], ["qp", "qp"],
		["qp", "size", "tx-depth", "rx-depth", "post_list", "cq-mod", "mtu", "sl", "tos"])})' <<<"$hello" >hellos
	server send_bw
	start each "$lib/peer" each "$port" hellos
	finish each
	[[ $(grep -c '^error peer' each.out) == 8 && $(wc -l <each.out) == 8 ]] || fail 'not all are refused'
	(($(grep -c '^error peer ' each.out) == 8)) || fail 'not all are refused'
	says server.err 'dropped ' varied
	client send_bw -n 5
	finish server
	ended client 0
	ended server 0
}
