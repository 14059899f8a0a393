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
