#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What comments and manual pages speak of exists, and a page does not deny what its program can do.

load ../lib/rdmark

top=$BATS_TEST_DIRNAME/../..

# sources FILE…: three kinds of lines: "comment FILE TEXT", a comment's line; "string FILE TEXT", with what
# stands next to it joined; "code NAME", a name outside comments and strings.
sources() {
	perl -0777 -ne '
		while (m{\G(/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*|\x27(?:[^\x27\\\n]|\\.)*\x27|[^/"\x27]+|.)}gs) {
			my $t = $1;
			if ($t =~ m{^/[*/]}) { print "comment $ARGV $_\n" for split /\n/, $t }
			elsif ($t =~ /^"/) { print "string $ARGV " . $t =~ s/"\s+"//gr . "\n" }
			elsif ($t !~ /^\x27/) { $seen{$_}++ or print "code $_\n" for $t =~ /[A-Za-z_]\w+/g }
		}' "$@"
}

# unknown FILE NAMES: what the comments of FILE, lines of sources(), name and NAMES has not: functions
# "name()", "struct name" and files.
unknown() {
	perl -ne '
		BEGIN { open my $h, "<", shift or die; while (<$h>) { chomp; $known{$_}++ } }
		next unless /^comment (\S+) (.*)/s;
		my ($file, $text) = ($1, $2);
		print "$file: $_()\n" for grep { !$known{$_} } $text =~ /(?<![\w.])([A-Za-z_]\w+)\(\)/g;
		print "$file: struct $_\n" for grep { !$known{$_} } $text =~ /\bstruct ([a-z_]\w+)/g;
		print "$file: $_\n" for grep { !$known{$_} }
			$text =~ m{(?<![\w*/.<-])((?:[\w-]+/)*[\w-]+\.(?:c|h|bats|bash|md|mdoc))(?![\w.])}g;
	' "$2" "$1"
}

# The files of the tree and each end of their paths: "proto/oob.h" and "oob.h", too.
files() {
	find "$top" -path "$top/build" -prune -o -path "$top/.git" -prune -o -type f -printf '%P\n' |
		awk -F/ '{ for (name = $NF; ; name = $(i - 1) "/" name) { print name; if (name == $0) break
			i = NF - split(name, part) + 1 } }'
}

@test "words: the files, functions and structs that comments name exist" {
	mapfile -t all < <(cd "$top" && find common tests ./*_bw ./*_lat rdmark pairs -name '*.[ch]')
	((${#all[@]} > 300))
	(cd "$top" && sources "${all[@]}") >lines
	{
		sed -n 's/^code //p' lines
		files
		# What the system has, and comments only speak of.
		printf '%s\n' cuda.h numaif.h vfork hwloc_get_common_ancestor_obj
	} >names
	unknown lines names >missing
	[[ ! -s missing ]] || fail "$(cat missing)"
}

@test "words: a file, a function and a struct that do not exist are found" {
	printf '/* see no/such.h, oob.h, gone_call(), known_call(), struct gone and struct known */\nstruct known known_call(int a);\n' >a.c
	sources a.c >lines
	{
		sed -n 's/^code //p' lines
		echo oob.h
	} >names
	unknown lines names >missing
	[[ $(<missing) == $'a.c: gone_call()\na.c: struct gone\na.c: no/such.h' ]]
}

# denied PAGE: paragraphs that say that something is not done and do not name the option that does it.
denied() {
	awk '
	function judge() {
		for (i = 1; i <= n; i++)
			if (paragraph ~ says[i] && index(paragraph, option[i]) == 0)
				print FILENAME ": " option[i] ": " paragraph
		paragraph = ""
	}
	BEGIN {
		says[++n] = "[Oo]ne direction is"; option[n] = "Fl b"
		says[++n] = "[Oo]ne thread posts"; option[n] = "Fl -threads"
		says[++n] = "messages is (not )?checked"; option[n] = "Fl -verify"
		says[++n] = "all lie at its"; option[n] = "Fl -footprint"
		says[++n] = "keeps one CPU"; option[n] = "Fl e"
	}
	/^\.(Pp|Sh|Ss|It)/ { judge(); next }
	{ paragraph = paragraph " " $0 }
	END { judge() }' "$1"
}

@test "words: no page denies an option that its program has" {
	local page
	for page in "$top"/build/man/man1/*_{bw,lat}.1; do
		denied "$page"
	done >found
	[[ ! -s found ]] || fail "$(cat found)"
}

@test "words: a page that denies an option is found" {
	printf '%s\n' 'One direction is measured.' .Pp 'The content of the messages is not checked.' .Pp \
		'By default one thread posts;' '.Fl -threads' 'makes more.' >page
	denied page >found
	(($(wc -l <found) == 2))
	grep -q 'Fl b: .*One direction' found
	grep -q 'Fl -verify' found
}

# banned FILE…: those of the words that man/style.md replaces that are in FILEs, lines of sources() or text.
banned() { banned_of 0 "$@"; }

# banned_in_pages FILE…: the same with the words of its table for pages, which may stand in code.
banned_in_pages() { banned_of 1 "$@"; }

banned_of() {
	perl -ne '
		BEGIN {
			my ($pages, $on) = (shift, 0);
			open my $h, "<", shift or die;
			while (<$h>) {
				$on = /Manual pages/ if /^## /;
				push @not, (split /\|/)[-2] =~ /`([^`]+)`/g if /^\|/ && $on == $pages;
			}
			@not or die "no words\n";
			$not = join "|", map { quotemeta($_) . (/ it$/ ? "" : "(?:s|es)?") } @not;
		}
		next if /^string \S+ "strands"$/ || /^comment \S+ .*\bstrands\[\]/; # a key of the protocol
		print "$_\n" for /(?<![A-Za-z])(?:$not)(?![a-z])/gi;
	' "$1" "$top/man/style.md" "${@:2}"
}

@test "words: what man/style.md replaces is used nowhere" {
	mapfile -t all < <(find "$top"/common "$top"/{send,write,read,atomic}_{bw,lat} "$top"/{gdr_bw,rdmark,pairs} -name '*.[ch]')
	((${#all[@]} > 200))
	sources "${all[@]}" >lines
	banned lines "$top"/build/man/man?/* "$top"/README.md >found
	[[ ! -s found ]] || fail "$(sort found | uniq -c)"
}

@test "words: what man/style.md replaces in pages is in no page and no README" {
	mapfile -t all < <(cd "$top" && ls "$PWD"/build/man/man?/* "$PWD"/README.md "$PWD"/{packaging,tests/*/*}/README.md)
	((${#all[@]} > 16))
	banned "${all[@]}" >found
	banned_in_pages "${all[@]}" >>found
	[[ ! -s found ]] || fail "$(sort found | uniq -c)"
}

@test "words: a word that man/style.md replaces in pages is found in one, and may stand in code" {
	printf '%s\n' 'Whoever waits for ever has had' 'It is for the sake of it.' 'Nobody has its key, as the file has it.' >page
	[[ $(banned_in_pages page | tr '\n' ' ') == 'Whoever for ever for the sake of Nobody has it ' ]]
	[[ ! $(banned page) ]]
}

@test "words: a word that man/style.md replaces is found, in a name, a comment, a message and a page" {
	printf '%s\n' 'struct strand_slices; /* the crew of it, anew */' 'int weigh_most;' \
		'const char *fix = "leave it out";' >a.c
	sources a.c >lines
	printf '%s\n' 'It shall be so.' 'A wishful page of marshall.' >page
	[[ $(banned lines page | sort | tr '\n' ' ') == 'anew crew leave it out shall strand weigh ' ]]
}

# unsaid FILE…: the words that man/style.md has in no message and that are in FILEs: in the strings of what
# sources() prints, or in a file of jq but its comments.
unsaid() {
	perl -ne '
		BEGIN {
			open my $h, "<", shift or die;
			while (<$h>) { push @not, /`([^`]+)`/g if /^Not in a message:/ }
			@not > 30 or die "no words\n";
			$not = join "|", map { quotemeta } @not;
		}
		next if /^(comment|code) / || /^\s*#/;
		print "$_\n" for /(?<![A-Za-z])(?:$not)(?:s|es)?(?![a-z])/gi;
	' "$top/man/style.md" "$@"
}

@test "words: what no message says is in no string of a program" {
	mapfile -t all < <(find "$top"/common "$top"/{send,write,read,atomic}_{bw,lat} "$top"/{gdr_bw,rdmark,pairs} -name '*.[ch]' -o -name '*.def')
	sources "${all[@]}" >lines
	unsaid lines "$top"/contrib/{plot,prom}/*.{jq,in} >found
	[[ ! -s found ]] || fail "$(sort found | uniq -c)"
}

@test "words: what no message says is found in a message, also over two lines, and not in a comment" {
	printf '%s\n' '/* nobody waits in line */' 'const char *cause = "nobody is so "' '	"many";' >a.c
	sources a.c >lines
	printf '%s\n' '# nobody' 'stop("a.json: it is no document")' >plot.jq
	[[ $(unsaid lines plot.jq | sort | tr '\n' ' ') == 'it is no nobody so many ' ]]
}
