# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the script that sources this
#
# The kernel a throwaway machine boots: the distribution's own package, downloaded and unpacked
# into a cache, never installed. Sourced by tests/softroce.
#
#   $cache/kernel-PARTS-VERSION/vmlinux         uncompressed: emulated, decompressing takes 2 s
#   $cache/kernel-PARTS-VERSION/lib/modules/…   what a machine here may want, depmod'ed
#   $cache/kernel-PARTS-VERSION/initramfs-PROVIDER-SUM   see initramfs.sh
#
# PARTS is a checksum of kernel_parts. The newest such kernel in the cache is used as it is, so
# nothing is downloaded twice and a run needs no network; delete the folder to get a fresh one.

# Parts of a kernel package worth keeping, below lib/modules/VERSION/kernel: what begins so.
kernel_parts=(arch crypto lib net fs/9p fs/netfs fs/fscache fs/overlayfs fs/configfs
	      drivers/infiniband drivers/virtio
	      drivers/net/{dummy,veth,macvlan,virtio_net,net_failover,vmxnet3})

kernel_prefix=$cache/kernel-$(echo "${kernel_parts[@]}" | sha256sum | cut -c -8)

# kernel_find: sets $kernel to the folder of the newest cached kernel, or fails.
kernel_find() {
	kernel=$(compgen -G "$kernel_prefix-*" | sort -V | tail -n 1)
	[[ $kernel ]]
}

# kernel_get: sets $kernel, downloading it if the cache has none.
kernel_get() {
	kernel_find && return
	mkdir -p "$cache" || return
	local lock
	exec {lock}>"$cache/lock"
	flock -w 600 "$lock" || { say "waited 600 s for $cache/lock"; return 1; }
	kernel_find || kernel_download
	local rc=$?
	exec {lock}>&-
	return $rc
}

kernel_download() {
	local dir rc
	dir=$(mktemp -d "$cache/new.XXXXXX") || return
	say "downloading the distribution's kernel into $cache (once)"
	mkdir "$dir/packages" "$dir/root"
	(kernel_fetch "$dir/packages" && kernel_unpack "$dir/packages" "$dir/root") >"$dir/log" 2>&1
	rc=$?
	if ((rc == 0)); then
		kernel=$kernel_prefix-$(basename "$dir"/root/lib/modules/*)
		mv "$dir/root" "$kernel"
		rc=$?
	else
		tail -n 5 "$dir/log" >&2
		say "no kernel for a throwaway machine: the distribution's package could not be had"
	fi
	rm -rf "$dir"
	return $rc
}

# kernel_fetch DIR: downloads the package files into DIR.
kernel_fetch() {
	cd "$1" || return
	if have apt-get; then
		local package
		package=$(kernel_apt_name)
		if [[ ! $package ]]; then
			apt-get update && package=$(kernel_apt_name)
		fi
		[[ $package ]] || { echo "apt knows no kernel package"; return 1; }
		apt-get download "$package" || { apt-get update && apt-get download "$(kernel_apt_name)"; } ||
			return
		# Ubuntu keeps most modules in two packages of their own.
		for package in "${package/image/modules}" "${package/image/modules-extra}"; do
			apt-get download "$package" || true
		done
	elif have dnf; then
		dnf -y download kernel-core kernel-modules-core kernel-modules || return
		dnf -y download kernel-modules-extra || true
	else
		echo "neither apt-get nor dnf is here"
		return 1
	fi
}

# The package that carries the kernel: what the meta package depends on (twice, on Ubuntu).
kernel_apt_name() {
	local meta
	for meta in linux-image-amd64 linux-image-generic linux-image-virtual; do
		apt-cache depends "$meta" 2>/dev/null |
			sed -n 's/^ *|\?Depends: *\(linux-image-[0-9].*\)/\1/p' | grep -m 1 . && return
	done
}

# kernel_unpack PACKAGES ROOT: leaves vmlinux and lib/modules in ROOT.
kernel_unpack() {
	local all=$1/all
	local from version part file
	mkdir "$all"
	for file in "$1"/*.deb "$1"/*.rpm; do
		case $file in
		*/\**) ;;
		*.deb) dpkg-deb -x "$file" "$all" || return ;;
		*.rpm) rpm2cpio "$file" | (cd "$all" && cpio -idm --quiet) || return ;;
		esac
	done
	[[ -d $all/lib ]] || ln -s usr/lib "$all/lib"

	from=$(find "$all"/lib/modules/* -maxdepth 0 | sort -V | tail -n 1)
	version=$(basename "$from")
	local to=$2/lib/modules/$version
	mkdir -p "$to/kernel"
	cp "$from"/modules.builtin* "$from"/modules.order "$to/" || return
	for part in "${kernel_parts[@]}"; do
		for file in "$from/kernel/$part"*; do
			[[ -e $file ]] || continue
			file=${file#"$from/"}
			mkdir -p "$to/${file%/*}"
			cp -a "$from/$file" "$to/$file" || return
		done
	done
	depmod -b "$2" "$version" || return

	local image=$all/boot/vmlinuz-$version
	[[ -e $image ]] || image=$from/vmlinuz
	kernel_decompress "$image" "$2/vmlinux"
}

# kernel_decompress BZIMAGE OUT: the ELF file inside a bzImage, found by the magic of its
# compression. QEMU starts it directly if it has a PVH note; if not, the bzImage stays as it is.
kernel_decompress() {
	local magic tool offset
	while read -r magic tool; do
		while read -r offset; do
			tail -c +$((offset + 1)) "$1" | $tool >"$2" 2>/dev/null
			LC_ALL=C grep -aqP '\x12\x00\x00\x00Xen\x00' "$2" && return
		done < <(LC_ALL=C grep -aboP "$magic" "$1" | LC_ALL=C cut -d : -f 1)
	done <<-'END'
		\xfd7zXZ\x00 xz -dcq
		\x28\xb5\x2f\xfd zstd -dcq
		\x1f\x8b\x08 gzip -dcq
	END
	cp "$1" "$2"
}
