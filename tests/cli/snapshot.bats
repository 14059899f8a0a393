#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san,long
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# The snapshots of both ends' ports: what changed during a measurement, what did not, and why the
# rest is unknown. The machines are made up, each end has its own.

load ../lib/rdmark
load ../lib/gpu

setup_file() {
	need_device
	[[ ${RDMARK_PRELOAD-} ]] || skip_file 'the counters of a real port cannot be set'
	export SIMVERBS_DEVICES='sim0 netdev=eth9 gid.0=v1/127.0.0.1/eth9 gid.1=v2/127.0.0.1/eth9'
}

# made DIR: a sysfs of the stand-in's devices in DIR, with records of their network interfaces.
made() {
	"${RDMARK_PRELOAD%/*}/simverbs-sysfs" "$1" || return
	mkdir -p "$1/ethtool"
}

# at DIR COMMAND…: what is started so sees that tree.
at() {
	local dir=$PWD/$1
	export RDMARK_SYSFS=$dir SIMVERBS_SYSFS=$dir
	"${@:2}"
	unset RDMARK_SYSFS SIMVERBS_SYSFS
}

# put FILE TEXT: in the place of what it has, so that who reads sees the old text or this.
put() {
	printf '%s\n' "$2" >"$1.new"
	mv "$1.new" "$1"
}

# counter DIR NAME VALUE: of the port.
counter() { put "$1/class/infiniband/sim0/ports/1/$2" "$3"; }

# measured PROGRAM COMMAND [ARG…]: what COMMAND counts, in the trees mine (of the client) and theirs, is during
# the run, however late this shell is: the run goes on until a signal, a second after its start at the earliest. The
# document is in c.json.
measured() {
	at theirs server "$1"
	at mine start_client "$1" -D 60 --interval 0.1 --json=c.json "${@:3}"
	until_says client.err '^[a-z_]*: [0-9.]* s: ' # both ends have begun to count
	"$2"
	until_says client.err '^[a-z_]*: [1-9][0-9.]* s: '
	kill -INT "${pid[client]}"
	finish client server
	ended client 130
	ended server 0
}

counted() {
	export SIMVERBS_GBPS=0.2 # or the program limits the rate, on a busy machine, too
	measured "$@"
}

# limited BY CODE END SECONDS: it may be by that, since it does not explain all that is lacking of the link; and that
# is found at that end, for so long.
limited() {
	json c.json '.results[0] | .limit.bound_by == $by and .limit.strength == "may_be" and (.seconds as $all | .diagnosis[0]
		| .code == $code and .end == $where and (.share * $all - $stood | fabs) < 1e-6)' \
		--arg by "$1" --arg code "$2" --arg where "$3" --argjson stood "$4"
}

# bats test_tags=core
@test "each end tells what changed at its port, under one name for each meaning; the other end knows it" {
	made mine
	made theirs
	put mine/ethtool/eth9 $'rx_prio3_pause_duration: 1000\nrx_prio3_pause: 5\nrx_discards_phy: 0'
	put theirs/ethtool/eth9 'NIC statistics:'
	counter theirs hw_counters/'RNR sent' 0
	counter theirs counters/link_downed 255
	at theirs server send_bw --json=s.json
	at mine start_client send_bw -D 30 -s 64 --interval 0.1 --json=c.json
	until_says client.err '^[a-z_]*: .*messages/s'
	counter mine hw_counters/rnr_nak_retry_err 7
	counter mine counters/port_xmit_data 250
	counter theirs hw_counters/'RNR sent' 9
	put mine/ethtool/eth9 $'rx_prio3_pause_duration: 301000\nrx_prio3_pause: 65\nrx_discards_phy: 0'
	kill -TERM "${pid[client]}"
	finish client server
	json c.json '.results[0] | (.snapshot.client | length) == 1 and .snapshot.client[0].seconds >= .seconds'
	json c.json '.results[0].snapshot.client[0] | .changed == {
			rnr_received: {change: 7, counter: "rnr_nak_retry_err"},
			sent_bytes: {change: 1000, counter: "port_xmit_data"},
			pause_received_us: {change: 300000, counter: "rx_prio3_pause_duration"},
			pause_frames_received: {change: 60, counter: "rx_prio3_pause"}}
		and (.unchanged | index("nic_discards") and index("ack_timeout"))
		and (.unknown.not_counted | index("cnp_sent") and index("pause_sent_us"))'
	json c.json '.results[0].snapshot.server[0] | .changed == {no_receive: {change: 9, counter: "RNR sent"}}
		and .unknown.saturated == ["link_downed"]'
	[[ $(jq -c '.results[0].snapshot' c.json) == "$(jq -c '.results[0].snapshot' s.json)" ]] || fail 'the two ends tell different things'
}

@test "-v tells the packets' DSCP and service level at each end" {
	made mine
	at mine server send_bw
	at mine client send_bw -n 20 --dscp 26 --sl 3 -v
	finish server
	ended client 0
	says client.err 'client packets: DSCP 26, SL 3' 'server packets: DSCP 26, SL 3'
}

@test "every kind of test has both; an interface that is elsewhere, and none at all, are reasons" {
	local program
	made mine
	for program in write_bw read_lat send_lat; do
		at mine server "$program"
		at mine client "$program" -n 100 --json=c.json
		finish server
		ended client 0
		json c.json '.results[0].snapshot | [.client[0], .server[0]] | all(.changed == {} and .seconds > 0
			and (.unknown.other_namespace | index("pause_received_us") and index("fcs_errors")))'
	done
	export SIMVERBS_DEVICES='sim0 link=ib lid=1 sm_lid=1 gid.0=ib/fe80::1'
	made bare
	at bare server send_bw
	at bare client send_bw -n 100 --json=c.json
	finish server
	ended client 0
	json c.json '.results[0].snapshot.client[0].unknown.no_netdev | index("pause_received_us") and index("fcs_errors")'
}

# bats test_tags=core
@test "both directions, sizes, runs and devices: each result has its own" {
	export SIMVERBS_DEVICES='sim0 gid.0=v2/127.0.0.1; sim1 gid.0=v2/127.0.0.1'
	made mine
	at mine server write_bw -d sim0,sim1
	at mine client write_bw -d sim0,sim1 -b -n 200 -s 1k --repeat 2 --json=c.json
	finish server
	ended client 0
	json c.json '(.results | length) == 2 and all(.results[]; (.snapshot.client | length) == 2 and (.snapshot.server | length) == 2)
		and all(.results[].by_end[]; has("snapshot") | not)'
}

@test "the receiver posts no receives in time: its RNR timer, and who waited for it" {
	made mine
	made theirs
	counter mine hw_counters/rnr_nak_retry_err 0
	no_receives() { counter mine hw_counters/rnr_nak_retry_err 500; }
	counted send_bw no_receives
	limited receiver receiver_not_ready client 0.32 # its timer is 0.64 ms
}

@test "pause frames: by the server's port, and by a switch" {
	made mine
	made theirs
	stopped_by_server() {
		put theirs/ethtool/eth9 'tx_prio3_pause_duration: 300000'
		put mine/ethtool/eth9 'rx_prio3_pause_duration: 300000'
	}
	stopped_by_switch() { put mine/ethtool/eth9 'rx_prio3_pause_duration: 300000'; }
	put mine/ethtool/eth9 'rx_prio3_pause_duration: 0'
	put theirs/ethtool/eth9 'tx_prio3_pause_duration: 0'
	counted write_bw stopped_by_server
	limited pause paused client 0.3
	json c.json '.results[0].diagnosis[0].cause | test("he server.s port sent")'
	put mine/ethtool/eth9 'rx_prio3_pause_duration: 0'
	put theirs/ethtool/eth9 'tx_prio3_pause_duration: 0'
	counted write_bw stopped_by_switch
	limited pause paused client 0.3
	json c.json '.results[0].diagnosis[0].cause | test("A switch sent")'
}

@test "round trips: a port that was stopped, receives that came too late, and otherwise nothing" {
	local program
	made mine
	made theirs
	stopped() { put mine/ethtool/eth9 'rx_prio3_pause_duration: 400000'; }
	calm() { put mine/ethtool/eth9 'rx_prio3_pause_duration: 8000'; }
	for program in send_lat write_lat read_lat; do
		put mine/ethtool/eth9 'rx_prio3_pause_duration: 0'
		measured $program stopped
		json c.json '.results[0] | has("limit") | not'
		json c.json '.results[0] | .seconds as $all | .diagnosis[0] | .code == "paused" and .end == "client" and .level == "warn"
			and (.share * $all - 0.4 | fabs) < 1e-6'
		says client.err ": warn: the client's port was stopped for" '[paused]'
	done
	put mine/ethtool/eth9 'rx_prio3_pause_duration: 0'
	measured send_lat calm
	json c.json '.results[0] | .diagnosis == [] and .snapshot.client[0].changed.pause_received_us.change == 8000'
	says_no client.err ': warn'
	no_receives() { counter mine hw_counters/rnr_nak_retry_err 500; }
	counter mine hw_counters/rnr_nak_retry_err 0
	measured send_lat no_receives --explain=off
	json c.json '.results[0] | .seconds as $all | .diagnosis[0] | .code == "receiver_not_ready" and (.share * $all - 0.32 | fabs) < 1e-6'
	says_no client.err ': warn'
}

@test "the link went down: a fault of that end, whatever limits the run" {
	made mine
	made theirs
	went_down() { counter theirs counters/link_downed 1; }
	counted write_bw went_down
	json c.json '.results[0].diagnosis[0] | .code == "link_went_down" and .level == "fault" and .end == "server"'
}

# aer DIR CORRECTABLE NONFATAL: PCIe errors that the adapter of that tree has counted.
aer() {
	local dir
	dir=$(readlink -f "$1/class/infiniband/sim0/device")
	put "$dir/aer_dev_nonfatal" "TOTAL_ERR_NONFATAL $3"
	put "$dir/aer_dev_fatal" 'TOTAL_ERR_FATAL 0'
	put "$dir/aer_dev_correctable" $'RxErr 0\n'"TOTAL_ERR_COR $2"
}

# bats test_tags=core
@test "PCIe errors of the server's adapter during the run: named; those before it, and those that nobody counts, are not" {
	made mine
	made theirs
	aer theirs 70 3
	damaged() { aer theirs 96 3; }
	counted write_bw damaged
	json c.json '.results[0] | (.diagnosis[0] | .code == "pcie_errors_grow" and .end == "server" and .level == "warn"
			and .text == "the server\u0027s PCIe link had 26 correctable errors during the run"
			and (.evidence | map({(.name): .value}) | add == {pci_correctable: 26, pci_nonfatal: 0, pci_fatal: 0}))
		and (.snapshot.client[0].unknown.no_aer | index("pci_correctable")) and (.snapshot.server[0].unchanged | index("pci_nonfatal"))'
	aer mine 1 0
	nothing() { aer theirs 96 3; }
	counted write_bw nothing
	json c.json '.results[0].diagnosis | all(.code != "pcie_errors_grow")'
}
