# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # what it sets is for the scripts, and the other way round
#
# A run: a server and a client of one tool, on one device, with the same experiment. The client
# starts when the server says that it can be connected to: rdmark by --ready-fd, perftest by its
# socket in /proc/net/tcp. Figures are those that the clients print, wall time is the client's.
#
# Who includes this sets
#   bin        where our programs are
#   dir        where samples and facts go: "MEASUREMENT TOOL TURN VALUE", "KEY VALUE"
#   device     what to run on; server_host is its address, if that is not 127.0.0.1
#   limit_s    how long any wait may last
#   look_s     how often to look at the client's memory
#   attempts   how often a run that failed is tried
#   through_server, through_client   a command before the server's and the client's, if any
# and then calls pair_setup. A run sets wall_us, memory_kib, client_cpu_ms and server_cpu_ms. Several shells may do so, and run beside each other.

# pair_setup PORT: a folder, $work; perftest gets ports from PORT on. All that runs ends with this
# shell, which gives each its own process group.
pair_setup() {
	set -m
	work=$(mktemp -d) || exit
	mkfifo "$work/ended" "$work/ready" "$work/idle" || exit
	exec 5<>"$work/ended" 6<>"$work/ready" 7<>"$work/idle"
	next_port=$1
	attempt=0 turn=0
	jobs_running=()
	trap pair_cleanup EXIT
	trap 'exit 130' INT TERM HUP
}

pair_cleanup() {
	kill_all
	rm -rf "$work"
}

kill_all() {
	local pid
	for pid in "${jobs_running[@]}"; do
		kill -KILL -- "-$pid" 2>/dev/null
	done
}

die() { printf 'bench: %s\n' "$*" >&2; exit 1; }

# start NAME OUT COMMAND…: in the background. Its end is told on descriptor 5: NAME, the number of the
# attempt, its status, and the microseconds it took.
start() {
	local name=$1 out=$2
	shift 2
	{
		from=${EPOCHREALTIME/./}
		"$@" >"$out" 2>"$out.err"
		status=$?
		from=$((${EPOCHREALTIME/./} - from))
		times >"$out.cpu"	# the second line is the command's
		echo "$name $attempt $status $from" >&5
	} &
	started=$!
	jobs_running+=("$started")
}

# cpu_ms FILE: the milliseconds of CPU, "0m0.094s 0m1.300s" on its second line.
cpu_ms() {
	local user system words
	{ read -r _; read -r user system; } <"$1"
	read -ra words <<<"${user//[ms.]/ } ${system//[ms.]/ }"
	echo $((60000 * (10#${words[0]} + 10#${words[3]}) + 1000 * (10#${words[1]} + 10#${words[4]}) + 10#${words[2]} + 10#${words[5]}))
}

listening() {
	local hex address state table
	printf -v hex %04X "$1"
	for table in /proc/net/tcp /proc/net/tcp6; do
		while read -r _ address _ state _; do
			[[ $state != 0A || $address != *:$hex ]] || return 0
		done <"$table"
	done
	return 1
}

await_listening() {
	local deadline=$((SECONDS + limit_s))
	until listening "$1"; do
		((SECONDS < deadline)) && kill -0 "$started" 2>/dev/null || return
		read -r -t 0.005 -u 7 || :	# nothing comes there: let the server have the CPU
	done
}

# start_server TOOL PROGRAM ARGUMENT…: until clients can connect to $port.
start_server() {
	local tool=$1 program=$2
	shift 2
	if [[ $tool == rdmark ]]; then
		start server "$work/server" "${through_server[@]}" "$bin/$program" -d "$device" -p 0 --ready-fd 6
		read -r -t "$limit_s" -u 6 port
	else
		while listening "$next_port"; do
			((next_port += 1))
		done
		((port = next_port++))
		start server "$work/server" "${through_server[@]}" "ib_$program" -F -d "$device" -p "$port" "$@"
		await_listening "$port"
	fi
}

# next_end: one more process of this attempt has ended: sets name, status and us of the caller. A line is
# written at once, so that it is read only when it is there: a time-out within it could lose a part.
next_end() {
	local part
	if ! read -r -t 0 -u 5; then
		read -r -t "$look_s" -u 7 || :	# nothing comes there
		read -r -t 0 -u 5 || return
	fi
	read -r -u 5 part
	[[ $part =~ ^(client|server)\ $attempt\ ([0-9]+)\ ([0-9]+)$ ]] || return
	name=${BASH_REMATCH[1]} status=${BASH_REMATCH[2]} us=${BASH_REMATCH[3]}
}

# await_ends PID: of server and client. Meanwhile $memory_kib follows PID's child, the client.
await_ends() {
	local deadline=$((SECONDS + limit_s)) left=2 name status us child='' key value
	while ((left && SECONDS < deadline)); do
		if next_end; then
			((status == 0)) || return
			[[ $name != client ]] || wall_us=$us
			((left -= 1))
			continue
		fi
		[[ $child ]] || read -r child _ <"/proc/$1/task/$1/children"
		while read -r key value _; do
			[[ $key != VmHWM: ]] || memory_kib=$value
		done <"/proc/${child:-none}/status"
	done 2>/dev/null
	((left == 0))
}

drain() {
	while read -t 0 -u "$1"; do
		read -r -t 1 -u "$1"
	done
}

# attempt TOOL PROGRAM ARGUMENT…: sets $wall_us, $memory_kib and row, the client's last one.
attempt() {
	local tool=$1 program=$2 client ok=
	shift 2
	((attempt += 1))
	if [[ $tool == rdmark ]]; then client=$bin/$program; else client=ib_$program; fi
	memory_kib=0 wall_us=0 row=()
	if start_server "$tool" "$program" "$@"; then
		start client "$work/client" "${through_client[@]}" "$client" -F -d "$device" -p "$port" "$@" "${server_host:-127.0.0.1}"
		await_ends "$started" && ok=1
	fi
	[[ $ok ]] || kill_all
	wait 2>/dev/null
	jobs_running=()
	drain 5
	drain 6
	[[ $ok ]] || return
	client_cpu_ms=$(cpu_ms "$work/client.cpu") server_cpu_ms=$(cpu_ms "$work/server.cpu")
	local fields
	while read -ra fields; do
		[[ ${fields[0]-} != +([0-9]) ]] || row=("${fields[@]}")
	done <"$work/client"
	((${#row[@]}))
}

# pair TOOL PROGRAM ARGUMENT…: attempt, until it succeeds. A run that never does has no sample.
pair() {
	local n
	for ((n = 1; n <= attempts; n++)); do
		attempt "$@" && return
		printf 'bench: %s %s failed or took longer than %d s, attempt %d of %d\n' \
			"$1" "${*:2}" "$limit_s" "$n" "$attempts" >&2
		tail -q -n 2 "$work"/*.err >&2
		echo "failed $1 ${*:2}" >>"$dir/facts"
	done
	return 1
}

# sample MEASUREMENT VALUE: of the caller's tool, in this turn.
sample() { echo "$1 $tool $turn $2" >>"$dir/samples"; }

# both FUNCTION ARGUMENT…: for the two tools, first the one, the next time the other.
both() {
	local tools=(perftest rdmark) tool
	((turn += 1))
	((turn % 2)) || tools=(rdmark perftest)
	for tool in "${tools[@]}"; do
		"$@"
	done
}

