#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2034,SC2086,SC2154 # what the completion reads and sets; words
#
# Completion of rdmark-plot: what is offered, called as bash calls it, and by the TAB key.

setup() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	bin=$(cd "${RDMARK_BIN:-$top/build/bin}" && pwd)
	completion=${bin%/*}/completions/rdmark
	cd "$BATS_TEST_TMPDIR" || return
	# shellcheck source=/dev/null
	. "$completion"
	: >run.json
	: >run2.json
}

# replies LINE: what is offered, a line each, without blank or "=".
replies() {
	COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
	_rdmark_plot "${1%% *}"
	printf '%s\n' "${COMPREPLY[@]}" | sed 's/[ =]$//' | sort -u
}

@test "rdmark-plot: the options are those of --help, the kinds those that it takes, and files" {
	"$bin/rdmark-plot" --help >help
	diff <(sed -n 's/^  \(-.\), \(--[a-z]*\).*/\1 \2/p' help | tr ' ' '\n' | sort) <(replies 'rdmark-plot -')
	diff <(sed -n 's/^  -., \(--[a-z]*\).*/\1/p' help | sort) <(replies 'rdmark-plot --')
	run "$bin/rdmark-plot" -k none run.json
	diff <(printf '%s\n' ${output##*use one of } | tr -d , | sort) <(replies 'rdmark-plot -k ')
	[[ $(replies 'rdmark-plot --against=th' | xargs) == threads ]]
	[[ $(replies 'rdmark-plot -x qp ru' | xargs) == 'run.json run2.json' ]]
	[[ $(replies 'rdmark-plot run.json ru' | xargs) == 'run.json run2.json' ]]
	[[ ! $(replies 'rdmark-plot -t ') ]]
}

# typed ARGUMENTS SETUP SHELL…: of keys with TABs.
typed() {
	local seen
	command -v python3 >/dev/null || skip 'python3 is not here (make deps)'
	seen=$("$top/tests/lib/tab" "$2; rdmark-plot() { printf '<%s>' \"\$@\"; echo; }" \
		'rdmark-plot --kin\tcc\t-x tx\t-o run2\t run.\t' "${@:3}" 2>&1) || { echo "$seen"; return 1; }
	[[ $'\n'$seen == *$'\n'"$1" ]] || { printf 'not %s:\n%s\n' "$1" "$seen"; return 1; }
}

@test "rdmark-plot: --help fits 80 columns" {
	"$bin/rdmark-plot" --help >help
	! grep -E '.{81}' help
}

@test "rdmark-plot: the TAB key, in bash and in zsh" {
	typed '<--kind=ccdf><-x><tx_depth><-o><run2.json><run.json>' ". '$completion'" bash --norc --noprofile -i
	command -v zsh >/dev/null || skip 'zsh is not here (make deps)'
	typed '<--kind=ccdf><-x><tx_depth><-o><run2.json><run.json>' \
		"autoload -U +X compinit && compinit -D -u; autoload -U +X bashcompinit && bashcompinit; . '$completion'" zsh -f -o nopromptsp -i
}
