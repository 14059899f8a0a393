# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # what it sets is for the tests
#
# The programs, by their folders, as the Makefile finds them: a new one is in the loops over these.
#   all_programs                           each of them
#   measuring_programs                     those that measure one thing at a time, by messages: all but gdr_bw
#                                          and those that time calls (reg_lat, connect_lat)
#   programs                               of these, those whose messages go to the peer, of any size
#   latency_programs, bandwidth_programs   of these
#   fetching_programs                      the others: READs and atomics, whose data come from there
#
# RDMARK_PATHS=yes: programs has only one for each code path: both loops and both operations, in two
# instead of four. For emulated machines, where each takes minutes; the stand-in has them all.

all_programs=() measuring_programs=() programs=() latency_programs=() bandwidth_programs=()
fetching_programs=()
for folder in "${BASH_SOURCE[0]%/*}"/../../*_lat/ "${BASH_SOURCE[0]%/*}"/../../*_bw/; do
	folder=${folder%/}
	program=${folder##*/}
	[[ -f $folder/$program.c ]] || continue
	all_programs+=("$program")
	IFS= read -r -d '' text <"$folder/$program.c" || true
	[[ $text != *$'\n\t.schedule = '* ]] || continue
	measuring_programs+=("$program")
	if [[ $text == *IBV_ACCESS_REMOTE_READ* || $text == *IBV_ACCESS_REMOTE_ATOMIC* ]]; then
		fetching_programs+=("$program")
		continue
	fi
	programs+=("$program")
	case $program in
	*_lat) latency_programs+=("$program") ;;
	*) bandwidth_programs+=("$program") ;;
	esac
done
[[ ! ${RDMARK_PATHS-} ]] || programs=(send_bw write_lat)
unset folder program text
