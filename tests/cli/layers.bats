#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The shape of the source: includes point strictly downward through the layers, headers of one
# layer do not include each other in circles, files do not call each other in circles, headers
# declare no variables, and functions have no #if in them. Each rule is also tried on a tree that
# breaks it.

# shellcheck disable=SC2016  # awk programs
bats_require_minimum_version 1.5.0

# Lowest first. A module may include its own layer and those before it; programs may include all.
layers="base stat finding host memory trust verbs explain loop proto cli admit plan endpoint measure report session"

setup() {
    top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    cd "$BATS_TEST_TMPDIR" || return
}

# The sources of the tree: common/ and the programs.
sources() {
    local dir
    for dir in common *_lat *_bw rdmark pairs; do
        [ ! -d "$dir" ] || find "$dir" -name "${1:-*.[ch]}"
    done | sort
}

# "FILE INCLUDED" for each #include "…" of the sources.
includes() {
    sources | xargs -r awk -F '"' '/^[ \t]*#[ \t]*include[ \t]*"/ { print FILENAME, $2 }'
}

# Prints what points up, sideways out of the tree, or to another program. Fails if anything does.
check_layers() {
    includes | awk -v layers="$layers" '
        BEGIN {
            n = split(layers, name, " ")
            for (i = 1; i <= n; i++) rank[name[i]] = i
        }
        function bad(why) { printf "%s includes \"%s\": %s\n", $1, $2, why; failed = 1 }
        {
            split($1, from, "/")
            parts = split($2, to, "/")
            mine = from[1] == "common" ? rank[from[2]] : n + 1
            if (!mine) bad("common/" from[2] " is no layer")
            else if (parts == 1 && mine <= n) bad("write it with its layer")
            else if (parts == 1) next
            else if (mine > n && to[1] == from[1]) {
                # What commands of one program share lies above their folders.
                if (parts == 3 && split($1, at, "/") == 3) bad("another command of " from[1])
            }
            else if (!(to[1] in rank)) bad(to[1] " is no layer")
            else if (rank[to[1]] > mine) bad("points upward")
        }
        END { exit failed }'
}

# Prints a circle of headers, if there is one, and fails.
check_circles() {
    local out
    out=$(includes | awk '$1 ~ /\.h$/ { sub(/^common\//, "", $1); print $1, $2 }' | tsort 2>&1 >/dev/null) ||
        { echo "$out"; return 1; }
}

# Prints a line for each circle: the files that call each other, directly or through others of them.
# The symbols of their objects, which are below $objects, tell: they may share a header.
object_circles() {
    local file
    sources '*.c' | while read -r file; do echo "$objects/${file%.c}.o"; done | xargs -r nm -gAP | awk -v root="$objects/" '
        {
            sub(/\.o:$/, "", $1)
            file = substr($1, length(root) + 1)
            if ($3 ~ /[Uvw]/) wants[file] = wants[file] " " $2
            else if ($2 != "main") home[$2] = file
        }
        function reach(from, at,    n, i, symbol, to) {
            n = split(wants[at], symbol, " ")
            for (i = 1; i <= n; i++) {
                to = home[symbol[i]]
                if (to == "" || to == at || (from, to) in reached) continue
                reached[from, to]
                reach(from, to)
            }
        }
        END {
            for (file in wants) reach(file, file)
            for (file in wants) {
                if (!((file, file) in reached) || file in told) continue
                line = ""
                for (other in wants)
                    if ((file, other) in reached && (other, file) in reached) {
                        told[other]
                        line = line " " other
                    }
                print substr(line, 2)
            }
        }'
}

# check_object_circles [FILE…]: fails unless the FILEs, and no others, are in circles.
check_object_circles() {
    local found
    found=$(set -o pipefail; object_circles) || return
    diff <(printf '%s\n' "$@" | sort) <(tr ' ' '\n' <<<"$found" | sort) || { echo "$found"; return 1; }
}

check_extern() {
    local bad
    bad=$(sources '*.h' | xargs -r grep -HnE '^[[:space:]]*extern[^(]*(;|=|$)') || true
    [ -z "$bad" ] || { echo "$bad"; return 1; }
}

# In the house style a function's body starts and ends with a brace in the first column.
check_conditionals() {
    local bad
    bad=$(sources | xargs -r awk '
        FNR == 1 || /^}/ { inside = 0 }
        /^{/ { inside = 1 }
        inside && /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)/ { print FILENAME ":" FNR ": " $0 }')
    [ -z "$bad" ] || { echo "$bad"; return 1; }
}

check_licences() {
    local bad
    bad=$(sources | xargs -r awk '
        FNR == 1 && !/SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause/ { print FILENAME }')
    [ -z "$bad" ] || { echo "$bad"; return 1; }
}

# A file of the made-up tree: put PATH LINE…
put() {
    local path=$1
    shift
    mkdir -p "$(dirname "$path")"
    printf '%s\n' "$@" >"$path"
}

@test "layers: there is something to check" {
    cd "$top"
    for layer in $layers; do
        [ -d "common/$layer" ]
    done
    [ "$(includes | wc -l)" -gt 50 ]
    includes | grep -q '^send_lat/send_lat.c session/session.h$'
}

@test "layers: every directory of common/ is one" {
    cd "$top"
    run -0 find common -mindepth 1 -maxdepth 1 -printf '%f\n'
    [ "$(sort <<<"$output")" = "$(tr ' ' '\n' <<<"$layers" | sort)" ]
}

@test "layers: includes point strictly downward" {
    cd "$top"
    check_layers
}

@test "layers: headers do not include each other in circles" {
    cd "$top"
    check_circles
}

@test "layers: files do not call each other in circles" {
    local objects=${RDMARK_BIN:-$top/build/bin}/../obj
    cd "$top"
    check_object_circles
}

# Prints the headers on which more than 60 of the product's objects depend: $objects/*.d. Some may have
# more: faults, signals, the clock and composed text are used by most files themselves, and so are the
# options and the experiment, which any part of the program may ask for.
check_rebuilds() {
    local bad
    bad=$(find "$objects" -path "$objects/tests" -prune -o -name '*.d' -print | xargs awk -v most="${most-60}" '
        FNR == 1 { all++ }
        /^[^ ]*:$/ { n[$1]++ } # of -MP: a line for each header
        END {
            for (header in n)
                if (header !~ /^common\/(base\/(fault|stop|clock|text)|cli\/(options|experiment))\.h:$/ && n[header] > most)
                    print header " " n[header] " of " all
            exit !all
        }') || return
    [ -z "$bad" ] || { echo "$bad"; return 1; }
}

@test "layers: no header but six rebuilds more than 60 objects" {
    local objects
    objects=$(realpath "${RDMARK_BIN:-$top/build/bin}/../obj")
    check_rebuilds
}

@test "layers: a header that rebuilds too much is found" {
    local objects=$PWD most=1
    put a/a.d 'a.o: a.c a.h b.h' 'a.h:' 'b.h:'
    put a/b.d 'b.o: b.c a.h' 'a.h:'
    put tests/c.d 'c.o: c.c'
    run ! check_rebuilds
    [ "$output" = 'a.h: 2 of 2' ]
    put a/b.d 'b.o: b.c'
    check_rebuilds
}

# The fuzz harness links both into one program, where one would call the other's.
@test "layers: common/ and the stand-in for the verbs share no name" {
    local objects=${RDMARK_BIN:-$top/build/bin}/../obj
    names() { nm -gP --defined-only "$@" | awk 'NF >= 3 && $1 !~ /^__gnu_lto/ { print $1 }' | sort -u; }
    [ -d "$objects/tests/standin/verbs" ] || skip 'the stand-in is not built (make sim)'
    run comm -12 <(names "$objects"/common/*/*.o) <(names "$objects"/tests/standin/verbs/*.o)
    [ -z "$output" ]
}

# check_budget FILE: the table in FILE is what code-lines says of the tree here.
check_budget() {
    diff <(grep -E '^\| (`[a-z_{},/]*`|all) \| [0-9]+ \|$' "$1") <("$top/tests/lib/code-lines" .)
}

@test "layers: each folder has as many lines of code as CONTRIBUTING.md says" {
    cd "$top"
    check_budget CONTRIBUTING.md
}

@test "layers: a folder with more code than its row says is found, and one with less, and one without a row" {
    put common/base/a.c 'int a;' '' '/* no code */' 'int b; // nor this'
    put common/base/a.def 'A(1)'
    put send_lat/send_lat.c 'int c;'
    put tests/unit/test_a.c 'int d;'
    printf '| `%s` | %s |
' common/base/ 3 '{send,write,read,atomic}_{lat,bw}/' 1 >budget
    echo '| all | 4 |' >>budget
    check_budget budget
    put common/new/c.c 'int e;'
    run ! check_budget budget
    [ "$(grep '^>' <<<"$output")" = $'> | `common/new/` | 1 |
> | all | 5 |' ]
    rm -r common/new common/base/a.def
    run ! check_budget budget
    [ "$(grep '^>' <<<"$output")" = $'> | `common/base/` | 2 |
> | all | 3 |' ]
}

@test "layers: headers declare no variables" {
    cd "$top"
    check_extern
}

@test "layers: functions have no #if" {
    cd "$top"
    check_conditionals
}

@test "layers: every source names its licences first" {
    cd "$top"
    check_licences
}

@test "layers: a source without licences is found" {
    put common/base/a.c '// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause'
    check_licences
    put common/base/b.c 'int b;'
    run ! check_licences
    [ "$output" = common/base/b.c ]
}

@test "layers: what is allowed passes" {
    put common/verbs/a.c '#include "verbs/a.h"' '#include "base/b.h"' '#include <x/y.h>'
    put common/verbs/a.h '#include "verbs/c.h"' '#include "host/d.h"'
    put z_lat/z_lat.c '#include "session/s.h"' '#include "z.h"' '#include "z_lat/z.h"'
    check_layers
    check_circles
}

@test "layers: pointing upward is found" {
    put common/base/a.c '#  include "host/b.h"'
    run ! check_layers
    [ "$output" = 'common/base/a.c includes "host/b.h": points upward' ]
    rm common/base/a.c
    put common/report/a.h '#include "session/b.h"'
    run ! check_layers
}

@test "layers: a program that includes another is found" {
    put a_bw/a_bw.c '#include "b_bw/b.h"'
    run ! check_layers
    [ "$output" = 'a_bw/a_bw.c includes "b_bw/b.h": b_bw is no layer' ]
}

@test "layers: a command of a program that includes another command is found, what both share is not" {
    put pairs/run/a.c '#include "pairs/shared.h"' '#include "own.h"'
    put pairs/pairs.c '#include "pairs/run/a.h"'
    check_layers
    put pairs/run/a.c '#include "pairs/judge/b.h"'
    run ! check_layers
    [ "$output" = 'pairs/run/a.c includes "pairs/judge/b.h": another command of pairs' ]
}

@test "layers: an unknown layer and a bare name are found" {
    put common/misc/a.c '#include "base/b.h"'
    run ! check_layers
    [ "$output" = 'common/misc/a.c includes "base/b.h": common/misc is no layer' ]
    rm -r common/misc
    put common/proto/a.c '#include "oob.h"'
    run ! check_layers
    [ "$output" = 'common/proto/a.c includes "oob.h": write it with its layer' ]
}

@test "layers: a circle of headers is found" {
    put common/base/a.h '#include "base/b.h"'
    put common/base/b.h '#include "base/c.h"'
    check_circles
    put common/base/c.h '#include "base/a.h"'
    run ! check_circles
    [[ "$output" == *"base/a.h"* ]]
}

@test "layers: a circle of files is found, whatever they include" {
    local name objects=$PWD
    put common/base/a.c 'void b(void);' 'void a(void);' 'void a(void) { b(); }'
    put common/base/b.c 'void c(void);' 'void b(void);' 'void b(void) { c(); }'
    put common/base/c.c 'void c(void);' 'void c(void) { }'
    put x_lat/x_lat.c 'void a(void);' 'int main(void) { a(); return 0; }'
    for name in common/base/{a,b,c} x_lat/x_lat; do cc -c -o "$name.o" "$name.c"; done
    check_object_circles
    put common/base/c.c 'void a(void);' 'void c(void);' 'void c(void) { a(); }'
    cc -c -o common/base/c.o common/base/c.c
    run ! check_object_circles
    [[ $output == *'> common/base/b'* ]]
    check_object_circles common/base/{a,b,c}
    run ! check_object_circles common/base/{a,b,c,d}
    [[ $output == *'< common/base/d'* ]]
    rm common/base/c.o
    run ! check_object_circles
    [[ $output == *"common/base/c.o"* ]]
}

@test "layers: a variable in a header is found, a function is none" {
    put common/base/a.h 'extern int f(void);' 'static inline int g(void)' '{' '}'
    check_extern
    put common/base/a.h 'extern const char *names[];'
    run ! check_extern
    [[ "$output" == common/base/a.h:1:* ]]
}

@test "layers: an #if in a function is found, one around it is none" {
    put common/base/a.c '#if X' 'int f(void)' '{' '}' '#else' 'int f(void)' '{' '}' '#endif'
    check_conditionals
    put common/base/a.c 'int f(void)' '{' '#ifdef X' '	return 1;' '#endif' '}'
    run ! check_conditionals
    [ "$output" = 'common/base/a.c:3: #ifdef X' ]
}
