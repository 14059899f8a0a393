#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2154 # what lib/rdmark.bash sets
#
# What buffers are made of, where messages lie in them, and how they are registered.

load ../lib/rdmark

# bats test_tags=core
@test "--mr_per_qp: all programs, both directions, several threads" {
	local program
	for program in "${programs[@]}"; do
		pair "$program" --mr_per_qp -n 100 --json=c.json
		json c.json '.experiment.mr_per_qp'
	done
	pair write_bw --mr_per_qp -q 5 -b -n 300 -s 4096
	pair send_bw --mr_per_qp -q 3 --threads 2 -n 300 -s 4096
}

@test "--mr_per_qp registers a region for each QP" {
	# The fifth registration fails: with two QPs there is none, with five there is.
	SIMVERBS_FAIL=ibv_reg_mr:5:EIO pair write_bw --mr_per_qp -q 2 -n 10
	server write_bw
	SIMVERBS_FAIL=ibv_reg_mr:5:EIO client write_bw --mr_per_qp -q 5 -n 10
	serves_next write_bw
	ended client 1
	says client.err 'ibv_reg_mr('
}

# bats test_tags=core
@test "--footprint: messages of every size, lists, both directions, by duration and by a schedule" {
	pair write_bw --footprint 4m -q 3 -l 4 -n 1001 -s 1000 --json=c.json
	json c.json '.experiment.footprint_bytes == 4194304 and .results[0].messages == 3003'
	pair send_bw --footprint 1m -b -n 1000 -s 100
	pair write_bw --footprint 1m -D 0.3 -s 64
	pair write_bw --footprint 16m -a -n 5
	pair write_bw --footprint 1m --rate_limit 100000p -n 500 -s 64
}

@test "--footprint is refused where it cannot be" {
	local words
	for words in 'write_lat --footprint 1m' 'write_bw --footprint 1k -s 2k'; do
		# shellcheck disable=SC2086 # words
		start cli $words 127.0.0.1
		finish cli
		ended cli 2
		says cli.err '--footprint' 'Fix: '
	done
}

# bats test_tags=core
@test "--align: all programs, all sizes" {
	local program bytes
	for program in "${programs[@]}"; do
		for bytes in 1 64 4095; do
			pair "$program" --align $bytes -a -n 3
		done
	done
	pair write_bw --align 1 --footprint 1m -s 5000 -n 300
	start cli write_bw --align 4096 127.0.0.1
	finish cli
	ended cli 2
}

# bats test_tags=core
@test "--mmap: a part for each thread, from the offset; what is before it stays" {
	local before
	truncate -s 1m file
	printf 'abc' | dd of=file conv=notrunc status=none
	server write_bw --mmap file --mmap-offset 4096 --auth=none
	client write_bw --threads 2 -s 64k -n 50 --json=c.json
	finish server
	ended client 0
	ended server 0
	json c.json '.ends.server.memory_made_of == "file file" and .ends.client.memory_made_of == ""'
	before=$(head -c 3 file)
	[[ $before == abc ]]
	says server.err 'memory: file file'
	# Two threads' buffers do not fit any more.
	server write_bw --mmap file --mmap-offset 900k --auth=none
	client write_bw --threads 2 -s 64k -n 50
	serves_next write_bw -s 16k
	says server.err '--mmap file: the file has 1 MiB' 'truncate -s '
}

# bats test_tags=core
@test "--mmap in a server needs --auth, and one client gets the file, no second one" {
	truncate -s 1m file
	start server write_bw -p 0 --mmap file
	finish server
	ended server 2
	says server.err '--mmap in a server needs --auth' 'Everybody on the network could read and change the file' 'Fix: '
	listen_in write_bw
	server write_bw --mmap file --auth=none --timeout 5
	stranger say "$(jq -c '.test = "no_bw"' <<<"$hello")" hear error gone # it got nothing
	ended stranger 0
	waits
	stranger say "$hello" hear welcome say "$qps" hear qps
	ended stranger 0
	finish server
	ended server 3
	says server.err 'was lost'
}

@test "--odp: where the device has it; elsewhere status 77, with what it has" {
	server write_bw
	client write_bw --odp -n 50
	serves_next write_bw
	ended client 77
	says client.err --odp odp_caps 'Fix: '
	export SIMVERBS_DEVICES='sim0 odp gid.0=v2/127.0.0.1'
	server send_lat --odp
	client send_lat --odp -n 50 --json=c.json
	finish server
	ended client 0
	ended server 0
	json c.json '.ends.server.memory_made_of == "on-demand paging"'
}

@test "--use_hugepages: they are used, or the error says how many there are" {
	server write_bw
	client write_bw --use_hugepages -n 50 --json=c.json
	if ((status[client])); then
		serves_next write_bw
		ended client 1
		says client.err MAP_HUGETLB 'Free huge pages: ' vm.nr_hugepages=
	else
		json c.json '.ends.client.memory_made_of | startswith("huge pages of ")'
	fi
}
