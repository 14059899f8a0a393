#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # what lib/rdmark.bash sets and reads
#
# Every command that README.md shows does what it shows: `server$` and `client$` lines as pairs, and
# what makes a picture of them; make's are in tests/cli/install.bats.

load ../lib/rdmark

setup_file() { need_device; }

# The indented lines of README that are commands: not what a program printed.
commands() {
	sed -n 's/^    //p' "$root/README.md" |
		grep -E '^(make|apt|dnf|server\$|client\$|build/bin)( |/|$)'
}

# Where the paths of README hold.
at_home() {
	mkdir -p build
	ln -sfn "$RDMARK_BIN" build/bin
	(umask 077 && head -c 32 /dev/urandom >secret)
}

# as_shown LINE: as the client's user would type it, but for where the server is.
as_shown() {
	local line=${1/ -d mlx5_0/ -d $DEVICE}
	[[ $line == *' server'* ]] || fail "no server in: $line"
	start client "$(command -v bash)" -c "set -o pipefail; ${line/ server/ -p $port $host}"
	finish client
}

@test "README: server and client, pair by pair" {
	local line words=() program pairs=0
	at_home
	while IFS= read -r line; do
		line=${line//build\/bin\//./build/bin/}
		case $line in
		'server$ '*) read -ra words <<<"${line#'server$ '}" ;;
		'client$ '*)
			line=${line#'client$ '}
			program=${line%% *}
			if [[ $program == *rdmark-prom ]]; then # of the run before
				start prom "$(command -v bash)" -c "$line"
				finish prom
				ended prom 0
				continue
			fi
			# Where only the client is shown, the server is the one shown before.
			[[ ${words[0]} == "$program" ]] || words=("$program")
			start_server server "${words[@]}"
			as_shown "$line"
			finish server
			if [[ $program == *gdr_bw ]]; then
				ended_with_any client 0 6 77
			else
				ended client 0
				ended server 0
			fi
			((pairs += 1))
			;;
		esac
	done < <(commands)
	((pairs >= 3)) || fail "only $pairs pairs"
}

@test "README: what it shows is what is printed" {
	local line shown
	pair send_bw -s 4k -D 1
	while IFS= read -r line; do
		line=${line%"${line##*[! ]}"}
		grep -qF -- "${line#    }" "$root/README.md" || fail "README does not show: $line"
	done < <(head -n 1 client.out)
}

@test "README: the sweep, and its picture" {
	local line rows
	at_home
	line=$(commands | grep '^client.* -q 1,4,16 -s 64:64k:x4 ') || fail 'there is none'
	server write_bw
	as_shown "./${line#'client$ '}"
	finish server
	ended client 0
	ended server 0
	[[ $(grep -c '^test,' s.csv) == 1 && $(grep -c '^write_bw,client' s.csv) == 18 ]] || fail "$(<s.csv)"
	json sweep.json '.status == "ok" and ([.results[].varied | [.qp, .size_bytes]] | unique | length) == 18'
	command -v gnuplot >/dev/null || return 0
	commands | grep rdmark-plot >plot || fail 'there is no picture'
	start plot "$(command -v bash)" -eu plot
	finish plot
	ended plot 0
	silent plot.err
	says plot.out 'write_bw' 'line rate'
}

@test "README: every command is one that is run here, or that make check-all is or cannot be" {
	local line
	while IFS= read -r line; do
		case $line in
		'server$ build/bin/'* | 'client$ build/bin/'*) ;;
		'build/bin/rdmark server --auth=none '* | 'build/bin/rdmark HOST '*) ;; # tests/cli/tour.bats
		build/bin/*) grep -qF "    $line" <(awk '/^## / { on = $0 == "## A sweep" } on' "$root/README.md") || fail "nobody runs: $line" ;;
		# demo and check run the tests; tests/cli/install.bats and tests/packages run the others
		'make demo '* | 'make check '* | 'make check-all '* | 'make deps '* | make\ \ * | 'make install '* | 'make deb '* | 'apt install ./build/packages/rdmark_*.deb') ;;
		*) fail "nobody runs: $line" ;;
		esac
	done < <(commands)
}

@test "CONTRIBUTING: its example of a test is one" {
	local example
	example=$(sed -n '/^    @test "/,/^    }/{/^        /p}' "$root/CONTRIBUTING.md")
	[[ $example == *pair*json* ]] || fail 'there is none'
	eval "$example"
}
