#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,san
# shellcheck disable=SC2030,SC2031,SC2154 # what lib/rdmark.bash sets and reads
#
# Cases from public reports: what is said of a failure fits the link, and names both ends.

load ../lib/rdmark

setup_file() {
	need_device
	[[ ${RDMARK_PRELOAD-} ]] || skip_file 'the cases are devices and faults of the stand-in'
}

on() { export SIMVERBS_DEVICES=$1; }

# why: what the client's document says of the failure.
why() { jq -r '.error.message' c.json; }

# fails STATUS FAULT [ARG…]: a send_lat whose client has FAULT ends with STATUS.
fails() {
	server send_lat
	SIMVERBS_FAULT=$2 client send_lat -n 20 --json=c.json "${@:3}"
	finish server
	ended client "$1"
}

# tells TEXT…: the failure's message has each; not TEXT…: none of them.
tells() { local text; for text; do [[ $(why) == *"$text"* ]] || fail "no '$text': $(why)"; done; }
not() { local text; for text; do [[ $(why) != *"$text"* ]] || fail "'$text': $(why)"; done; }

ethernet=(firewall UDP 4791 pause ECN PFC GIDs)
ib='mlx5_0 link=ib sm_lid=1 speed=NDR'
between="Between the client's mlx5_0 port 1 (LID 0x4, P_Key 0xffff) and the server's mlx5_0 port 1 (LID 0x3, P_Key 0xffff)"

# bats test_tags=core
@test "case 26: retries used up, or no completion, on InfiniBand: its words, and both ends" {
	local words=(LID partition 'subnet manager' 'error counters of both ports' "$between")
	on "$ib lid=3"
	server send_lat
	on "$ib lid=4"
	SIMVERBS_FAULT=wc:1:12:129 client send_lat -n 20 --json=c.json
	finish server
	ended client 3
	tells 'transport retry counter exceeded' "${words[@]}"
	not "${ethernet[@]}"
	on "$ib lid=3"
	server send_bw
	on "$ib lid=4"
	SIMVERBS_FAULT=delay:1:3600000 client send_bw -n 20 --timeout 5 --json=c.json
	finish server
	ended client 4
	tells '0 messages completed before' "${words[@]}"
	json c.json '.error | .stage == "measure" and .completion_status == "none"'
	not "${ethernet[@]}"
	# later, it is still InfiniBand
	on "$ib lid=3"
	fails 3 wc:30:12:129 -n 100
	tells 'came through before' perfquery
	not "${ethernet[@]}" 'subnet manager'
}

@test "case 26: the same on RoCE, and on soft-RoCE: their words, and both ends with GIDs" {
	local software
	on 'sim0 gid.1=v2/127.0.0.1'
	fails 3 wc:1:12:129
	tells 'UDP port 4791' "Between the client's sim0 port 1 (GID 1: 127.0.0.1) and the server's sim0 port 1 (GID 1: 127.0.0.1)"
	on 'rxe0 vendor=0xffffff gid.1=v2/127.0.0.1'
	fails 3 wc:1:12:129
	software=$(why)
	not switch pause ECN 'route between'
	# in another network namespace than the host's first that is the cause, and known
	[[ $software == *'network namespace'* || $software == *'netdevs of both ends are up'*'firewall of both hosts'* ]] ||
		fail "$software"
}

@test "case 26: RoCE v1 is not routed, and has no UDP port" {
	on 'mlx5_0 gid.0=v1/10.0.0.1'
	fails 3 wc:1:12:129
	tells 'are in one VLAN, since RoCE v1 is not routed' "the client's mlx5_0 port 1 (GID 0: 10.0.0.1)"
	not firewall UDP 4791 'route between' ECN
}

@test "case 26: soft-RoCE's network namespace is no cause where packets came, or the answer says so" {
	on 'rxe0 vendor=0xffffff gid.1=v2/127.0.0.1'
	fails 1 wc:1:13:0
	tells 'use a larger --rx-depth'
	not namespace
	server write_bw
	SIMVERBS_FAULT=delay:40:3600000 client write_bw -n 200 --timeout 3 --json=c.json
	finish server
	ended client 4
	tells '39 messages completed before' 'came through before'
	not namespace
}

# bats test_tags=core
@test "case 27: EFA: the first message is lost, or not answered: the security group, both ways" {
	on 'efa_0 efa speed=HDR'
	server send_lat --timeout 3
	SIMVERBS_FAULT=lose:1 client send_lat -n 20 --timeout 3 --json=c.json
	finish server
	ended_with_any client 3 4 # one of the two reports it first
	tells 'no completion for' 'security group' 'out and in' "the client's efa_0 port 1 (GID 0: "
	not "${ethernet[@]}"
	fails 3 wc:1:20:15
	tells 'security group' 'out and in'
	not "${ethernet[@]}"
}

# apart STATUS SERVER_DEVICES CLIENT_DEVICES [CLIENT_ARG…]: what both print of a refusal is in client.err.
apart() {
	on "$2"
	server send_lat "${of_server[@]}"
	on "$3"
	client send_lat -n 5 --json=c.json "${@:4}"
	waits_on
	ended client "$1"
}

# bats test_tags=core
@test "case 30: two subnets are refused while agreeing, both prefixes shown; with a GRH at both ends not" {
	local of_server=() one="$ib lid=3 gid.0=ib/fec0:0:0:1::3" two="$ib lid=7 gid.0=ib/fec0:0:0:2::7"
	apart 77 "$one" "$two"
	tells 'different subnets: fec0:0:0:1::/64 of the server' 'fec0:0:0:2::/64 of the client' 'give -x 0 at both ends'
	says server.err 'fec0:0:0:1::/64' 'fec0:0:0:2::/64'
	apart 77 "$one" "$two" -x 0
	of_server=(-d mlx5_0)
	apart 2 "$one" "$two"
	on "$one"
	pair send_lat -n 5
	on "$one"
	server send_lat -x 0
	on "$two"
	client send_lat -n 5 -x 0 --connect-timeout 5 --timeout 3
	says_no client.err 'different subnets'
}

@test "what does not fit together without an option is the machines, 77, and with one the command line" {
	local of_server=()
	apart 77 "$ib lid=3" 'sim0 gid.1=v2/127.0.0.1'
	apart 77 'sim0 gid.0=v2/10.0.0.1' 'sim0 gid.0=v1/10.0.0.2'
	apart 77 "$ib lid=3 pkey=0x8001" "$ib lid=4 pkey=0x8002"
	json c.json '.status == "unavailable" and .error.exit_status == 77'
	of_server=(-x 0)
	apart 2 'sim0 gid.0=v2/10.0.0.1' 'sim0 gid.0=v1/10.0.0.2'
	tells 'RoCE v2 IPv4, of the client'"'s RoCE v1"
	of_server=(-d mlx5_0)
	apart 2 "$ib lid=3" 'sim0 gid.1=v2/127.0.0.1'
	of_server=()
	apart 2 "$ib lid=3" 'sim0 gid.1=v2/127.0.0.1' -d sim0
	apart 2 'sim0 gid.0=v2/10.0.0.1' 'sim0 gid.0=v1/10.0.0.2' -x 0
	apart 77 "$ib lid=3" 'efa_0 efa speed=HDR'
	tells 'transport SRD is not supported on mlx5_0, which is InfiniBand'
	not --connection
}

@test "a default of the client that the server's device cannot take is the machines, 77; a value is 2" {
	local program size
	for program in write_bw send_bw; do
		for size in '77 ' '2 -s 8k'; do
			on 'sim0 gid.1=v2/127.0.0.1 max_msg=4k'
			server $program
			on 'sim0 gid.1=v2/127.0.0.1'
			# shellcheck disable=SC2086 # words, or none
			client $program -n 5 ${size#* }
			waits_on
			ended client ${size% *}
			says client.err 'are too large: sim0 port 1 supports at most 4 KiB'
		done
	done
}

@test "case 33: gdr_bw does not list -b, which it has no cell for" {
	start help gdr_bw --help=all
	finish help
	ended help 0
	! grep -F bidirectional help.out || fail listed
	start help gdr_bw -b
	finish help
	ended help 2
	says help.err '-b' 'cannot be used in gdr_bw'
}
