#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bats file_tags=standin,long
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # $ of jq; what lib/rdmark.bash sets and reads
#
# CONTRIBUTING.md says how to add a transport, and a vendor of GPUs. Both recipes are followed here in a
# copy of the tree, with the files in toys/; what is built there measures with them, and a recipe that
# does not name each file that has to change, or names another, is found.

load ../lib/rdmark

# Of the tree itself; later on they are known by these names only.
export RECIPES_ROOT=${RECIPES_ROOT:-$root} RECIPES_BIN=${RECIPES_BIN:-$RDMARK_BIN}
# From here on the programs, the schema and the helpers are those of the copy.
tree=${BATS_FILE_TMPDIR-}/tree
lib=$tree/tests/lib root=$tree
export RDMARK_BIN=$tree/build/bin
unset RDMARK_DOCUMENTS # the schema of others has no toys

few=(-n 40 -s 256)
toy=GPU-71790000-0

# alone COMMAND…: in the copy, with nothing of what bats and make have told us.
alone() {
	(cd "$tree" && env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$BATS_FILE_TMPDIR" \
		${RDMARK_PRELOAD:+"RDMARK_PRELOAD=$RDMARK_PRELOAD"} "$@" </dev/null 3>&-)
}

# add_row MACRO ROW FILE: at the end of the macro's rows.
add_row() {
	sed -i "/^#define $1(X)/,/[^\\\\]\$/ { /[^\\\\]\$/ s/\$/ \\\\\n\t$2/ }" "$tree/$3"
}

# followed NAME COMMAND…: run it; the files of the copy that it changes are then in $BATS_FILE_TMPDIR/NAME.
followed() {
	cp -a "$tree" "$BATS_FILE_TMPDIR/before"
	"${@:2}"
	diff -rq "$BATS_FILE_TMPDIR/before" "$tree" | sed -E 's|^Files .* and (.*) differ$|\1|; s|^Only in (.*): |\1/|' |
		sed "s|^$tree/||" | sort >"$BATS_FILE_TMPDIR/$1"
	rm -r "$BATS_FILE_TMPDIR/before"
}

a_transport() {
	cp "$BATS_TEST_DIRNAME/toys/transport_toy.c" "$tree/common/verbs/"
	add_row TRANSPORTS 'X(TOY, toy)' common/verbs/transports.h
	sed -i '/^\.It Fl c , Fl -connection/,/^\.It/ s/^Default: RC\b.*$/TOY has no atomic operations.\n&/' "$tree/man/options.mdoc"
}

a_vendor() {
	cp "$BATS_TEST_DIRNAME/toys/toy.c" "$tree/common/memory/"
	add_row MEMORY_VENDORS 'X(toy)' common/memory/vendors.h
	sed -i '/^\tLOCAL(MEMORY, "gpu-path"/ i\	LOCAL(MEMORY, "use_toy", 0, INDEX, vendor_gpu, 0, 255, "N",\
		"same as --gpu with an index among toys; without one: 0", NO_ATOMICS, .bare = "0"),' \
		"$tree/common/cli/options_table.c"
	sed -i '/^by index among AMD/ a\.\\" never ATOMICS\
.It Fl -use_toy Ns Op = Ns Ar N\
The same by index among toys; 0 without a value.' "$tree/man/options.mdoc"
}

setup_file() {
	local built=$RECIPES_BIN/.. entry
	RDMARK_BIN=$RECIPES_BIN need_device
	[[ -d $built/obj && -e $built/flags ]] || { skip_file 'no objects next to the programs'; return; }
	mkdir -p "$tree"
	for entry in "$RECIPES_ROOT"/*; do
		[[ $(realpath "$entry") == "$(realpath "$built")" || ${entry##*/} == build ]] || cp -a "$entry" "$tree/"
	done
	followed transport a_transport
	followed vendor a_vendor
	mkdir "$tree/build"
	cp -a "$built"/{obj,gen,bin,man,completions,flags,*.a} "$tree/build/"
	# What is older than its sources is made again, and not what only lies elsewhere.
	alone make -o build/flags -o FORCE BUILD=build WERROR=1 ${CC:+CC="$CC"} all build/tests/unit/test_transport \
		>"$BATS_FILE_TMPDIR/made" 2>&1 || { cat "$BATS_FILE_TMPDIR/made"; return 1; }
	unset LD_LIBRARY_PATH
	export TOY_GPUS=2
}

# steps HEADING: the files that the steps of that recipe name.
steps() {
	awk -v heading="### $1" '
		/^##/ { on = $0 == heading }
		on && (/^[0-9]\. / || (step && /^   /)) { step = 1; print; next }
		{ step = 0 }' "$tree/CONTRIBUTING.md" |
		grep -oE '`[a-zA-Z_]+/[a-zA-Z_/]+\.[a-z]+`' | tr -d '`' | sed 's/NAME/toy/' | sort -u
}

@test "a recipe's steps name each file that changes, and no other" {
	steps 'A transport' >named
	[[ -s named ]]
	diff named "$BATS_FILE_TMPDIR/transport"
	steps 'A vendor of GPUs' >named
	[[ -s named ]]
	diff named "$BATS_FILE_TMPDIR/vendor"
}

@test "a row more rebuilds little" {
	(($(grep -c '^  CC ' "$BATS_FILE_TMPDIR/made") < 40)) || fail "$(<"$BATS_FILE_TMPDIR/made")"
}

@test "without the recipe there is neither" {
	start cli "$RECIPES_BIN/send_bw" -c TOY "$host"
	finish cli
	ended cli 2
	start cli "$RECIPES_BIN/send_bw" --use_toy "$host"
	finish cli
	ended cli 2
}

@test "-c TOY: measured and verified, in bandwidth and latency tests" {
	local program
	for program in send_bw write_lat; do
		pair "$program" -c TOY "${few[@]}" --verify=20 --json=c.json
		json c.json '.experiment.connection == "TOY" and .status == "ok"'
		says client.err 'no error'
	done
	pair read_lat -c TOY "${few[@]}" --format=perftest
	says client.out 'Connection type : TOY'
}

@test "-c TOY: what its struct says is so" {
	pair write_lat -c RC -n 40 -s 16 --json=c.json
	json c.json '.ends.client.inline_bytes > 16'
	pair write_lat -c TOY -n 40 -s 16 --json=c.json
	json c.json '.ends.client.inline_bytes == 16'
	start cli atomic_lat -c TOY "$host"
	finish cli
	ended cli 2
	says cli.err '-c/--connection TOY cannot be used with atomic_lat' 'Fix: '
	start cli send_bw -R -c TOY "$host"
	finish cli
	ended cli 77
	server send_bw
	TOY_ABSENT=1 client send_bw -c TOY "${few[@]}"
	ended client 1
	says client.err 'ibv_create_qp'
}

@test "-c TOY: what holds for every transport holds for it" {
	"$tree/build/tests/unit/test_transport"
}

@test "--use_toy: its memory in every test and route, verified" {
	local route program
	for route in dmabuf peermem; do
		server write_bw --gpu "$toy"
		client write_bw "${few[@]}" --use_toy=1 --gpu-path "$route" --verify=20 --json=c.json
		finish server
		ended client 0
		says client.err 'no error'
		json c.json '.ends.client.gpu_path == "'$route'" and (.ends | all(.memory == "gpu" and (.gpu | contains("Toy 1"))))'
	done
	for program in "${programs[@]}" read_lat; do
		server "$program" --gpu "$toy"
		client "$program" "${few[@]}" --use_toy -c TOY --json=c.json
		finish server
		ended client 0
		json c.json '.ends | all(.memory == "gpu")'
	done
}

@test "toys: listed, and each way of not having one said" {
	start list rdmark list --json
	finish list
	ended list 0
	json list.out '[.gpus[] | select(.driver == "Toy") | .uuid] == ["GPU-70790000-0", "GPU-71790000-0"]'
	TOY_GPUS='' start cli write_bw --use_toy "$host" -p 1
	finish cli
	ended cli 77
	says cli.err 'there is no toy' 'Fix: set TOY_GPUS=1'
	start cli write_bw --use_toy=7 "$host"
	finish cli
	ended cli 2
	says cli.err 'no GPU has index 7 of Toy' 'GPU-71790000'
	start cli write_bw --use_toy --use_rocm "$host"
	finish cli
	ended cli 2
	says cli.err '2 options name the GPU of this end'
}

@test "toys: a route that fails says why; memory that moved to the host's is no GPU memory" {
	server write_bw
	TOY_CLOSED=1 client write_bw "${few[@]}" --use_toy --gpu-path dmabuf
	ended client 77
	says client.err 'The driver exports no memory'
	: >moved
	client write_bw "${few[@]}" --use_toy --json=c.json
	json c.json '.ends.client.gpu_path == "dmabuf"'
	server write_bw
	TOY_HOST=$PWD/moved client write_bw "${few[@]}" --use_toy --json=c.json
	finish server
	ended client 0
	json c.json '.ends.client.gpu_path == "peermem" and (.ends.client.gpu_chosen | contains("moved the buffer to host memory"))'
}

@test "gdr_bw with toys: every cell, direct and copied" {
	server gdr_bw --gpu "$toy"
	client gdr_bw --gpu "$toy" -n 60 -s 64k --windows 3 --within 100 --expected-gbps 0 --json=c.json
	finish server
	json c.json '[.cells[]?.cell, .results[]?.cell] | map(select(. != null)) | index("gdr") != null and index("staged") != null'
}

@test "the rules hold in the copy, and the pages say what there is" {
	alone bats -f 'layers: (includes point|headers|files do|functions have|every source)' tests/cli/layers.bats
	alone bats -f 'words: (the files, functions and structs|what man/style.md replaces is used|what no message says is in no)' tests/cli/words.bats
	alone bats -f 'every option of --help|mandoc has nothing|every key of the JSON' tests/cli/man.bats
	grep -q '^connection c choice RC|.*|TOY ' "$tree/build/completions/rdmark"
}
