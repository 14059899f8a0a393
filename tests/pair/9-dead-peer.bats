#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=two-hosts
# shellcheck disable=SC2004,SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# Machine b loses its power in the midst: nothing closes a connection, nothing answers any more.
# The last file, since b is gone then.

load ../lib/rdmark

@test "the other host loses its power during four runs: every end here exits 3 in time" {
	local b=192.168.77.2 there=22000 name line fd
	declare -A notes_of
	deadline=150

	# the servers of two tests here, the clients of two others
	for name in write_lat send_bw; do
		mkfifo "$name.err"
		start "$name" "$name" -p 0 --timeout 15 --interval 0.5
		exec {fd}<"$name.err"
		await_text "$fd" 'ready on '
		start "b_$name" "$lib/agent" ask "$b" "exec $RDMARK_BIN/$name -p ${line##*:} -s 64 -D 100 192.168.77.1"
		notes_of[$name]=$fd
	done
	for name in send_lat write_bw; do
		mkfifo "$name.err"
		((there += 1))
		start "b_$name" "$lib/agent" ask "$b" "exec $RDMARK_BIN/$name -p $there"
		start "$name" "$name" -p $there --timeout 15 --interval 0.5 -s 64 -D 100 --json="$name.json" "$b"
		exec {fd}<"$name.err"
		notes_of[$name]=$fd
	done
	# until each has reported that it is measuring
	for name in "${!notes_of[@]}"; do
		await_text "${notes_of[$name]}" 'B: ' messages
	done

	start plug "$lib/agent" ask "$b" softroce-die
	for name in "${!notes_of[@]}"; do
		started_us[$name]=${EPOCHREALTIME/[.,]/}
	done
	for name in "${!notes_of[@]}"; do
		finish "$name"
		[[ ${status[$name]} == 3 ]] || fail "$name: status ${status[$name]}"
		within "$name" 60
	done
	for name in send_lat write_bw; do
		[[ $(wc -l <$name.out) == 0 ]] || fail 'a row that looks like any other'
	done
	json send_lat.json '.error.exit_status == 3 and .results[0].interrupted'
}
