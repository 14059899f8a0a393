#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The man pages say what the programs do: every option of --help stands in the page and the other
# way round, every key of the JSON document is explained, the examples parse, mandoc has no complaint.

setup_file() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	bin=$(cd "${RDMARK_BIN:-$top/build/bin}" && pwd)
	export top bin
	local page
	for page in "$top"/man/*.in; do
		page=${page##*/}
		"$top/man/gen" "$top/man/$page" >"$BATS_FILE_TMPDIR/${page%.in}"
	done
}

programs() {
	local page
	for page in "$top"/man/*.1.in; do
		page=${page##*/}
		echo "${page%.1.in}"
	done
}

need_mandoc() {
	command -v mandoc >/dev/null || skip 'mandoc is not here (make deps)'
}

# rendered PAGE: as plain text.
rendered() { mandoc -Tascii -Owidth=160 "$BATS_FILE_TMPDIR/$1" | sed 's/.\x08//g'; }

# section NAME: of a rendered page on standard input.
section() { awk -v name="$1" '/^[A-Z]/ { on = $0 == name; next } on'; }

@test "every program has a page, and every page its program" {
	local folders
	folders=$(cd "$top" && for f in *_lat/*.c *_bw/*.c; do
		[[ ${f%%/*}.c != "${f##*/}" ]] || echo "${f%%/*}"
	done | sort)
	diff <(echo "$folders") <(programs | sort)
}

# options: the left column of --help or of a list in a page: "-s, --size=BYTES".
options() { awk '/^ +-/ { print $1 ~ /,$/ ? $1 " " $2 : $1 }' | tr -d '<>' | sort; }

@test "every option of --help is in the page with the same value, and the other way round" {
	need_mandoc
	local program
	for program in $(programs); do
		(($("$bin/$program" --help | options | wc -l) > 40))
		diff <("$bin/$program" --help | options) \
			<(rendered "$program.1" | section OPTIONS | grep '^     -' | options)
	done
}

@test "each page is about its program" {
	local program
	for program in $(programs); do
		grep -q "^\.Dt ${program^^} 1$" "$BATS_FILE_TMPDIR/$program.1"
		grep -q "^\.Nm $program$" "$BATS_FILE_TMPDIR/$program.1"
	done
}

@test "mandoc has nothing to say" {
	need_mandoc
	local page said
	for page in "$BATS_FILE_TMPDIR"/*.[17]; do
		# Whether other packages' pages are installed here is no fault of ours.
		said=$(mandoc -Tlint "$page" 2>&1 | grep -v -e 'referenced manual not found' -e 'mandoc.db') || :
		[[ -z $said ]] || { echo "$said"; return 1; }
	done
}

@test "the examples parse" {
	need_mandoc
	local program line words examples=0
	for program in $(programs); do
		while read -r line; do
			line=${line%%|*}
			line=${line%%>*}
			line=${line% 3}		# what stands before >
			read -ra words <<<"$line"
			[[ ${words[0]} == "$program" ]] || { echo "$program: $line"; return 1; }
			"$bin/$program" "${words[@]:1}" --help >/dev/null || { echo "$line"; return 1; }
			((examples += 1))
		done < <(rendered "$program.1" | section EXAMPLES | sed -n 's/^ *\$ //p')
	done
	((examples >= 4 * 2))
}

@test "every key of the JSON document is in rdmark(7)" {
	need_mandoc
	local page key keys
	page=$(rendered rdmark.7 | section JSON)
	keys=$(sed -n 's/^\t.*FIELD(/FIELD(/p' "$top/common/wire/end.c" | grep -o 'FIELD([A-Z]*, [a-z0-9_]*' | sed 's/.* //'
		grep -o '\(INTEGER\|REAL\)([a-z0-9_]*)' "$top/common/wire/record.c" | sed 's/.*(\(.*\))/\1/; /^field$/d'
		grep -oh 'json_object_set\(_new\)\{0,1\}([a-z>.-]*, *"[a-z0-9_]*"' "$top"/common/report/{json,report}.c | sed 's/.*"\(.*\)"/\1/'
		"$bin/send_bw" --json -p 1 --connect-timeout 0 --quiet localhost 2>/dev/null | sed -n 's/^ *"\([a-z0-9_]*\)":.*/\1/p')
	(($(wc -l <<<"$keys") > 60))
	for key in $keys; do
		grep -qE "^ +$key( |\$)" <<<"$page" || { echo "not explained: $key"; return 1; }
	done
}

@test "every exit status of the source is in the pages" {
	need_mandoc
	local number page
	for page in $(programs | sed 's/$/.1/') rdmark.7; do
		for number in 0 1 2 3 4 77 128+N; do
			rendered "$page" | section 'EXIT STATUS' | grep -qF "     $number" || { echo "$page: $number"; return 1; }
		done
	done
}
