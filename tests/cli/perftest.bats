#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Drop-in mode: under a name that begins with ib_, or with --format perftest, what is printed is what
# perftest's readers look for.

load ../lib/rdmark

setup_file() { need_device; }

ib_names() {
	local program
	for program in "${programs[@]}"; do
		ln -s "$RDMARK_BIN/$program" "ib_$program"
	done
}

# bats test_tags=core
@test "latency: banner, addresses and row on either side's stdout; never the letters BW" {
	local program file
	ib_names
	for program in "${latency_programs[@]}"; do
		pair "./ib_$program" -n 30
		for file in client.out server.out; do
			says "$file" 'Device         : '"$DEVICE" 'Number of qps   : 1' 'Connection type : RC' ' Mtu ' 'Link type' \
				' local address: LID ' ' remote address: LID ' 'QPN 0x' 'PSN 0x' '#bytes' '#iterations' \
				't_avg[usec]' 't_typical[usec]' '99% percentile[usec]'
			says_no "$file" bw error fail
			row "$file" 9
			[[ ${row[0]} == 2 && ${row[1]} == 30 ]] || fail "$file: ${row[*]}"
			positive "${row[@]:2:4}" "${row[@]:7}"
		done
		says server.out 'Waiting for client to connect'
		says_no client.out 'Waiting for client'
	done
}

@test "bandwidth: banner, addresses of every QP and row on either side's stdout" {
	local program file
	ib_names
	for program in "${bandwidth_programs[@]}"; do
		pair "./ib_$program" -n 30 -s 1024 -q 3
		for file in client.out server.out; do
			says "$file" 'Number of qps   : 3' 'CQ Moderation' 'BW peak[MiB/sec]' 'BW average[MiB/sec]' 'MsgRate[Mpps]'
			[[ $(grep -c 'local address: ' "$file") == 3 && $(grep -c 'remote address: ' "$file") == 3 ]] ||
				fail "$file: not three addresses"
			says_no "$file" error fail
			row "$file" 5
			[[ ${row[0]} == 1024 && ${row[1]} == 90 ]] || fail "$file: ${row[*]}"
		done
		row client.out 5
		positive "${row[@]:2}"
	done
}

# labelled FILE WORD DEVICES: the banner of the client says so of the calls and the devices.
labelled() {
	grep -q "^ ibv_wr\* API     : $2	" client.out || fail "ibv_wr* API is not $2"
	grep -q "^ Dual-port       : $3" client.out || fail "Dual-port is not $3"
	json p.json ".test_info | .ibv_wr_API == \"$2\" and .Dual_port == \"$3\" and .Number_of_qps == \$qps" --argjson qps "$1"
	[[ $(grep -n 'ibv_wr\* API' client.out | cut -d : -f 1) -lt $(grep -n 'local address' client.out | head -n 1 | cut -d : -f 1) ]]
	[[ $(grep -c 'Number of qps' client.out) == 1 ]]
}

@test "the banner says by which calls it posts, and whether there are two devices" {
	ib_names
	pair ./ib_write_bw -n 30 -s 64 --post-api send --out_json_file=p.json
	labelled 1 OFF OFF
	pair ./ib_send_lat -n 30
	says client.out 'ibv_wr* API     : OFF' 'Dual-port       : OFF'
	server ./ib_write_bw -d "$DEVICE,$DEVICE"
	client ./ib_write_bw -d "$DEVICE,$DEVICE" -n 30 -s 64 -q 2 --post-api send --out_json_file=p.json
	finish server
	ended client 0
	labelled 4 OFF ON
	[[ ${RDMARK_PRELOAD-} ]] || return 0
	pair ./ib_write_bw -n 30 -s 64 --post-api wr --out_json_file=p.json
	labelled 1 ON OFF
	says server.out 'ibv_wr* API     : OFF'
	pair ./ib_send_bw -n 30 -s 64 --out_json_file=p.json
	labelled 1 ON OFF
}

# bats test_tags=core
@test "a run that fails while it warms up: the banner is whole all the same" {
	[[ ${RDMARK_PRELOAD-} ]] || skip 'needs a fault on demand'
	ib_names
	server ./ib_write_bw
	SIMVERBS_FAULT=kill:5 client ./ib_write_bw -n 300 -s 64
	finish server
	((status[server] != 0)) || fail 'the server ended well'
	says server.out ' Dual-port       : OFF' ' ibv_wr* API     : OFF' ' local address: '
}

@test "the address lines of the two sides are each other's" {
	ib_names
	pair ./ib_write_bw -n 5 -s 64
	[[ $(grep -o 'local address: .*' client.out | cut -d ' ' -f 3-) == \
		"$(grep -o 'remote address: .*' server.out | cut -d ' ' -f 3-)" ]] || fail 'they differ'
}

@test "between the header and the closing rule: rows only; nothing with dashes inside or after" {
	ib_names
	pair ./ib_write_bw -a -n 2
	local between after
	between=$(sed -n '/#bytes/,/^---/p' client.out | sed '1d;$d')
	[[ $(grep -c . <<<"$between") == 23 ]] || fail "not 23 lines between header and rule: $between"
	after=$(sed '1,/#bytes/d' client.out | sed '1,/^---/d')
	[[ ! $after ]] || fail "after the rule: $after"
	rows client.out 5
	[[ ${#rows[@]} == 23 ]]
}

@test "nothing on stderr in a good run: it would get into 2>&1" {
	ib_names
	pair ./ib_send_lat -n 10
	silent client.err
	silent server.err
}

@test "latency with -D: the row of four columns" {
	ib_names
	pair ./ib_send_lat -D 1
	says client.out '#bytes' '#iterations' 't_avg[usec]' 'tps average'
	says_no client.out bw
	row client.out 4
	[[ ${row[0]} == 2 ]]
	positive "${row[@]}"
}

# bats test_tags=core
@test "-U: the samples come after '#, usec'" {
	ib_names
	pair ./ib_write_lat -n 12 -U
	says client.out '#, usec'
	[[ $(sed '1,/#, usec/d' client.out | grep -cE '^[0-9]+, [0-9.]+$') == 12 ]] || fail 'not 12 samples'
	row client.out 9
}

@test "--report_gbits, --output and perftest's habits" {
	ib_names
	pair ./ib_write_bw -aF --report_gbits -q4 -n 2
	says client.out 'BW average[Gb/sec]'
	rows client.out 5
	[[ ${#rows[@]} == 23 ]]
	pair ./ib_send_bw -n 20 -s 64 --output=bandwidth
	[[ $(grep -vc WARN client.out) == 1 ]] || fail 'more than one line'
}

@test "--format perftest does the same under our own names" {
	server send_lat --format perftest
	client send_lat --format=perftest -n 10
	finish server
	ended client 0
	ended server 0
	says server.out 'Waiting for client to connect' 'local address:'
	says client.out 'remote address:'
}

# bats test_tags=core
@test "the two forms understand each other" {
	ib_names
	server ./ib_send_bw
	client send_bw -n 10 -s 64
	finish server
	ended client 0
	ended server 0
	says server.out 'local address:'
	says_no client.out 'address'
}

@test "nobody there: perftest's words, and not 0" {
	ib_names
	port=1
	client ./ib_send_bw --connect-timeout 0
	((status[client] != 0))
	[[ $(<client.err)$(<client.out) == *"Couldn't connect to"* ]] || fail 'not those words'
}

@test "all output is there at once, also into a file: a reader of 'Waiting' need not wait for the end" {
	ib_names
	server ./ib_send_lat # returns when the port has been written to --ready-fd
	says server.out 'Waiting for client to connect'
	client ./ib_send_lat -n 5
	finish server
}
