# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # variables of the script that sources this
#
# Soft-iWARP for the kernel of a throwaway machine. Where the distribution's package has no siw.ko
# (Debian's has not), it is built from the distribution's own source with the headers of that very
# kernel; all of it is downloaded and unpacked beside the kernel, never installed. Sourced by
# tests/softroce.
#
#   $kernel/lib/modules/VERSION/updates/siw.ko   what was built; depmod knows it
#
# The source may be of another upload than the kernel: what a module may call is in the headers.

# siw_there: the modules of $kernel have it.
siw_there() {
	modprobe -C /dev/null -d "$kernel" -S "$(basename "$kernel"/lib/modules/*)" --show-depends siw \
		>/dev/null 2>&1
}

# siw_get: after kernel_get; fails if siw cannot be had, and has said why.
siw_get() {
	siw_there && return
	local lock
	exec {lock}>"$cache/lock"
	flock -w 600 "$lock" || { say "waited 600 s for $cache/lock"; return 1; }
	siw_there || siw_make
	local rc=$?
	exec {lock}>&-
	return $rc
}

siw_make() {
	local dir rc version
	version=$(basename "$kernel"/lib/modules/*)
	have apt-get || { say "no soft-iWARP: kernel $version comes without siw, and only apt-get's source is known here"; return 1; }
	dir=$(mktemp -d "$cache/new.XXXXXX") || return
	say "building siw for kernel $version in $cache (once)"
	(siw_fetch "$dir" "$version" && siw_build "$dir" "$version") >"$dir/log" 2>&1
	rc=$?
	if ((rc != 0)); then
		tail -n 5 "$dir/log" >&2
		say "no soft-iWARP: linux-headers-$version or its source could not be had or built;" \
			"if the distribution has a newer kernel, delete $kernel"
	fi
	rm -rf "$dir"
	return $rc
}

# siw_fetch DIR VERSION: the kernel's headers and what they depend on, then the source of siw.
siw_fetch() {
	cd "$1" || return
	local headers=linux-headers-$2 source of packages
	apt-cache show "$headers" >/dev/null || apt-get update
	mapfile -t packages < <(apt-cache depends "$headers" |
		sed -nE 's/^ *Depends: *(linux-(headers|kbuild)-[0-9].*)/\1/p')
	apt-get download "$headers" "${packages[@]}" ||
		{ apt-get update && apt-get download "$headers" "${packages[@]}"; } || return
	of=$(dpkg-deb -f "$headers"_*.deb Version) || return
	mkdir root
	for source in ./*.deb; do
		dpkg-deb -x "$source" root || return
	done
	source=linux-source-$(cut -d . -f 1,2 <<<"$2")
	apt-get download "$source=$of" || apt-get download "$source" || return
	dpkg-deb --fsys-tarfile "$source"_*.deb | tar -xO --wildcards "*/$source.tar.xz" | xz -dc |
		tar -x --strip-components=4 --wildcards '*/drivers/infiniband/sw/siw'
}

# siw_build DIR VERSION. The headers name each other by where they would be installed.
siw_build() {
	local headers=$1/root/usr/src/linux-headers-$2 to=$kernel/lib/modules/$2/updates
	sed -i "s|/usr/src/|$1/root/usr/src/|" "$headers/Makefile" &&
		make -C "$headers" "M=$1/siw" CONFIG_RDMA_SIW=m modules &&
		strip --strip-debug "$1/siw/siw.ko" && mkdir -p "$to" && cp "$1/siw/siw.ko" "$to/" &&
		depmod -b "$kernel" "$2"
}
