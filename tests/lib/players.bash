# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2030,SC2031,SC2154 # what lib/rdmark.bash sets
#
# For tests of rdmark-pairs run: players of one machine, each with a port and a link of its own. After rdmark.bash.

# hosts N: the file of hosts p0, p1, …, on ports that nobody listens on.
hosts() {
	local i first taken=1
	while ((taken)); do
		first=$((10000 + RANDOM % 1000 * 20)) taken=0
		for ((i = first; i < first + $1; i++)); do
			! (: <>"/dev/tcp/127.0.0.1/$i") 2>/dev/null || taken=1
		done
	done
	for ((i = 0; i < $1; i++)); do echo "p$i 127.0.0.1:$((first + i))"; done >hosts
	begin=${slot:-2}
	begin=$((EPOCHSECONDS + 1 + ${begin%.*}))
}

# player I [OPTION…]: the player pI of those hosts; its link is 10 Gb/s fast, unless the environment says otherwise.
# $of is a word for its name here, where there are several sets of hosts.
player() {
	SIMVERBS_GBPS=${SIMVERBS_GBPS-10} start "${of-}p$1" rdmark-pairs run --hosts "${of-}hosts" --self "p$1" --auth=none --start "$begin" "${@:2}"
}

# rounds N: the file of so many rounds in which p0 and p1 meet.
rounds() {
	local i
	for ((i = 0; i < $1; i++)); do echo "$i p0 p1"; done >rounds
}

# rows FILTER [ARG…]: of all lines of all players, as an array.
rows() {
	jq -es "$@" p*.out >/dev/null || fail "not so: $1"
}

# measured N FILTER: so many lines of pairs fit FILTER, and four in five of them have a figure: a busy machine may hold up
# a process for a part of a slot, and then the line of its pair says that.
measured() {
	rows "map(select(.kind == \"pair\" and ($2))) | length == \$n
		and (map(select(.status == \"measured\")) | length >= \$n * 0.8)
		and all(.status == \"measured\" or (.cause | IN(\"missed\", \"connect\", \"lost\")))" --argjson n "$1"
}

# Of programs under the sanitizers, which start slowly, slots are longer.
slot=${RDMARK_SANITIZED:+5}
slot=${slot:-2}

# Until a player I has a line of round R.
until_round() { until_says "p$1.out" "\"round\":$2,"; }

finish_all() {
	local i
	for ((i = 0; i < $1; i++)); do
		[[ ! ${pid[p$i]-} || ${status[p$i]-} ]] || finish "p$i"
	done
}
