#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,rxe,san
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# -R: the QPs are connected through rdma_cm. It makes no path over the loopback interface, so where that is all there is, a device on an interface of its own is made
# for these tests. The stand-in for libibverbs has no rdma_cm: there it is what is said.

load ../lib/rdmark

node=/dev/infiniband/rdma_cm

setup_file() {
	need_device
	export CM_ADDRESS='' CM_MADE=''
	[[ ! ${RDMARK_PRELOAD-} && -c $node ]] || return 0
	if [[ $NETDEV == lo ]]; then
		make_device || skip_file 'no device that rdma_cm could use: lo alone, and none can be added'
	else
		CM_ADDRESS=$GID_ADDRESS
	fi
}

make_device() {
	CM_ADDRESS=192.168.78.1
	modprobe dummy 2>/dev/null || true
	ip link add rdmark-cm type dummy || return
	CM_MADE=yes
	ip addr add $CM_ADDRESS/24 dev rdmark-cm && ip addr add fd78::1/64 dev rdmark-cm nodad &&
		ip link set rdmark-cm up && rdma link add rdmark-cm type rxe netdev rdmark-cm || return
	until grep -q ACTIVE /sys/class/infiniband/rdmark-cm/ports/1/state; do :; done
}

# As lib/rdmark.bash's, and what make_device() made.
teardown_file() {
	if [[ $CM_MADE ]]; then
		rdma link delete rdmark-cm || true
		ip link delete rdmark-cm
	fi
	[[ ! ${RDMARK_DOCUMENTS-} ]] && compgen -G "$BATS_FILE_TMPDIR/*.documents" >/dev/null || return 0
	"$lib/schema" "$BATS_FILE_TMPDIR"/*.documents >&2 || (($? == 77))
}

need_cm() {
	[[ $CM_ADDRESS ]] || skip 'no rdma_cm here'
	host=$CM_ADDRESS
}

need_no_cm() {
	[[ ! -e $node ]] || skip 'rdma_cm is here'
}

# connected FILE BY: what the document says of how the ends came together.
connected() {
	json "$1" '.status == "ok" and .effective.connected_by == $by' --arg by "$2"
}

# --- with rdma_cm ------------------------------------------------------------------------------

@test "connect_lat -R: each connection is rdma_cm's, of all threads" {
	local transport
	need_cm
	for transport in RC UD; do
		server connect_lat
		client connect_lat -R -c $transport -n 20 --threads 2 --json=c.json
		finish server
		ended client 0
		ended server 0
		connected c.json rdma_cm
		json c.json '(.results | map(.step)) == ["create", "init", "exchange", "peer", "rdma_cm", "destroy", "connection"] and (.results | all(.messages == 40))'
	done
}

@test "every test with -R: the server adopts it, both ends say it" {
	local program
	need_cm
	for program in "${programs[@]}"; do
		server "$program" --json=s.json
		client "$program" -R -n 50 -s 1024 --json=c.json
		finish server
		ended client 0
		ended server 0
		says client.err 'connected by rdma_cm'
		connected c.json rdma_cm
		connected s.json rdma_cm
		json c.json '.experiment.rdma_cm and .ends.client.transport == "RoCE"
			and ([.ends[] | .gid == $a and .address == $a] | all)' --arg a "$host"
	done
}

@test "-R -c UD: rdma_cm tells of the server's QPs, and of the Q_Key" {
	local many
	need_cm
	for many in 'send_lat' 'send_bw -a' 'send_bw -b -q 16' 'send_bw -q 4 --threads 2' 'send_bw --reversed --verify'; do
		# shellcheck disable=SC2086 # words
		server ${many%% *}
		client $many -R -c UD -n 200 --json=c.json
		finish server
		ended client 0
		ended server 0
		connected c.json rdma_cm
		json c.json '.experiment.connection == "UD" and ([.ends[] | .gid == $a and .address == $a] | all)
			and (.results | all(.messages > 100))' --arg a "$host"
	done
}

@test "gdr_bw's row, with -R" {
	need_cm
	server gdr_bw
	client gdr_bw --plain -R -n 50 --json=c.json
	finish server
	ended client 0
	connected c.json rdma_cm
}

@test "-R with many QPs, several threads, both directions; they come up side by side" {
	local many
	need_cm
	for many in '-q 16' '-q 512 -t 4' '-q 8 --threads 2' '-q 4 -b'; do
		# shellcheck disable=SC2086 # two words or three
		server write_bw
		client write_bw -R -s 64 -n 8 $many --json=c.json
		finish server
		ended client 0
		ended server 0
		connected c.json rdma_cm
		within client 25
	done
}

@test "the MTU is at most -m" {
	need_cm
	server write_bw
	client write_bw -R -m 256 -n 20 --json=c.json
	finish server
	connected c.json rdma_cm
	json c.json '.effective.mtu_bytes == 256'
}

@test "-R over IPv6, and with -T" {
	need_cm
	[[ $CM_MADE ]] || skip 'the device of this machine may have no IPv6 address'
	host=fd78::1
	server write_lat
	client write_lat -R -T 32 -n 20 --json=c.json
	finish server
	ended client 0
	connected c.json rdma_cm
	json c.json '.experiment.tos == 32 and .ends.server.gid == "fd78::1"'
}

@test "-R on the server alone is refused on both ends" {
	need_cm
	server send_bw -R
	client send_bw
	waits_on
	ended client 2
	says client.err '--rdma_cm'
	says server.err '--rdma_cm'
}

@test "a persistent server serves one after the other, of every test" {
	local i
	need_cm
	server 'rdmark server' --auth=none
	for i in 1 2 3; do
		client write_lat -R -n 20
		ended client 0
	done
	client send_lat -R -n 20
	ended client 0
	kill "${pid[server]}"
	finish server
	ended server 0
}

@test "loopback has no path: said by name, on both ends" {
	need_cm
	[[ $CM_MADE ]] || skip 'no RDMA device on lo'
	host=127.0.0.1
	server send_lat
	client send_lat -R
	ended client 1
	waits_on
	says client.err 'rdma_resolve_route' 'loopback' 'Fix: '
	says server.err 'rdma_resolve_route' 'loopback'
}

# A client that was told to connect its QPs to PORT of an address, by a server that is none.
aimed_at() { # ADDRESS PORT ARG…
	fake_server hear hello say '{"type": "welcome", "protocol": 5, "version": "0", "timeout_ns": 5000000000,
		"rails": [{"fabric": 1, "gid_kinds": "0", "mtu_bytes": 256}],
		"rdma_cm": [{"address": "'"$1"'", "port": '"$2"', "token": 1}]}' hear error gone
	host=127.0.0.1
	client send_lat -R -d "$CM_ADDRESS" --timeout 15 --connect-timeout 1 "${@:3}"
}

@test "where nobody listens, and where no RDMA device leads" {
	need_cm
	aimed_at "$CM_ADDRESS" 1
	ended client 3
	says client.err 'RDMA_CM_EVENT_REJECTED' 'No server listens there through rdma_cm any more'
	aimed_at "$CM_ADDRESS" 1 -c UD
	ended client 3
	says client.err 'RDMA_CM_EVENT_UNREACHABLE' 'No server listens there through rdma_cm any more'
	aimed_at 127.0.0.1 70000
	ended client 3
	says client.err "'port'"
	aimed_at nowhere 1
	ended client 3
	says client.err 'not an IP address'
}

@test "a stranger who knows the port but not the token is rejected, and its QPs are not connected" {
	local address at token
	need_cm
	# the server is told of a client that does nothing more, and says where it listens
	server send_lat -d "$CM_ADDRESS" --timeout 8
	stranger=(say '{"type": "hello", "protocol": 5, "version": "0", "test": "send_lat", "timeout_ns": 8000000000,
		"experiment": {"rdma_cm": 1}, "rails": [{"fabric":1, "gid_kinds": "0", "mtu_bytes": 256}]}'
		hear-any hear-any stay)
	become "$lib/peer" connect "$port" "${stranger[@]}" >seen.out 2>seen.err </dev/null &
	pid[first]=$!
	until at=$(grep -o '"port": *[0-9]*' seen.out); do kill -0 "${pid[first]}"; done
	address=$(sed -n 's/.*"address": *"\([^"]*\)".*/\1/p' seen.out)
	aimed_at "$address" "${at##*[ :]}"
	ended client 3
	says client.err 'Another server listens there, or the server has given up'
	kill "${pid[first]}"
	waits_on
}

# That it is not --timeout which ends the other one: it is longer than any process has here ($deadline).
@test "an end that is killed while the QPs are connected: the other one notices" {
	need_cm
	# The client's QPs wait for a server that is stopped, and then killed.
	server send_bw -d "$CM_ADDRESS" --timeout 300
	host=127.0.0.1
	proxy server:welcome
	start_client send_bw -R -d "$CM_ADDRESS" --timeout 300 --json=c.json
	await held
	kill -KILL "${pid[server]}"
	finish server client proxy
	ended client 3
	# The server's wait for a client that will never come.
	host=$CM_ADDRESS
	server send_bw --timeout 300
	proxy server:welcome
	host=127.0.0.1
	start_client send_bw -R -d "$CM_ADDRESS" --timeout 300
	await held
	kill -KILL "${pid[client]}"
	finish client proxy
	waits_on
	says server.err 'exchanging QP details: ' 'was lost'
}

@test "an end that is killed while they measure: the other one notices" {
	need_cm
	server send_bw --timeout 300
	start_client send_bw -R -D 60 --interval 0.2 --json=c.json --timeout 300
	until grep -q 'messages/s' client.err; do kill -0 "${pid[client]}"; done
	kill -KILL "${pid[server]}"
	finish server client
	ended client 3
	says client.err 'was lost'
}

@test "the words that perftest has for it" {
	need_cm
	server send_bw --format perftest
	client send_bw -R -n 50 --format perftest --out_json_file=p.json
	finish server
	ended client 0
	says client.out 'rdma_cm QPs	 : ON' 'Data ex. method : rdma_cm'
	says server.out 'rdma_cm QPs	 : ON' 'Data ex. method : rdma_cm'
	json p.json '.test_info.rdma_cm_QPs == "ON" and .test_info.Data_ex_method == "rdma_cm"'
}

# --- without -----------------------------------------------------------------------------------

# bats test_tags=core
@test "-R where there is no rdma_cm: the client says so, and the server hears nothing of it" {
	need_no_cm
	server send_lat
	client send_lat -R
	ended client 77
	says client.err "open $node" 'rdma_ucm' 'Fix: '
	client send_lat -n 20 --json=c.json
	finish server
	ended client 0
	ended server 0
	says_no server.err "open $node"
}

@test "-R connects neither UC nor XRC, and no group" {
	local transport
	for transport in UC XRC; do
		port=1 client send_lat -R -c $transport --connect-timeout 0
		ended client 77
		says client.err "--rdma_cm cannot be used with transport $transport" 'Fix: '
	done
	port=1 client send_lat -R -c UD -g --connect-timeout 0
	ended client 2
	says client.err '--mcg cannot be used with -R' 'Fix: '
}
