# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the script that sources this
#
# The first root of a throwaway machine: busybox, tests/vm/init and the modules it loads. Built
# once per kernel, provider and state of these files. Sourced by tests/softroce.

# Loaded in this order; what they depend on comes with them. crc32_generic: rdma_rxe asks for it
# by its crypto name and does not depend on it.
declare -A provider_module=([rxe]=rdma_rxe [siw]=siw)
initramfs_modules=(virtio_pci 9pnet_virtio 9p overlay crc32_generic ib_uverbs "${provider_module[$provider]}" rdma_ucm)
# Only with a network card on the wire.
initramfs_wire_modules=(virtio_net vmxnet3 sch_netem sch_prio cls_u32)
initramfs_applets=(sh cat chroot chmod grep hostname insmod ip kill ln mkdir mkfifo mount ping
		   poweroff rm setsid sleep stty tail timeout umount)

# initramfs_get: sets $initramfs for the kernel in $kernel.
initramfs_get() {
	local sum
	sum=$(cat "$vm/init" "$vm/initramfs.sh" "$busybox" | sha256sum | cut -c -16)
	initramfs=$kernel/initramfs-$provider-$sum
	[[ -e $initramfs ]] && return

	local dir rc
	dir=$(mktemp -d "$kernel/new.XXXXXX") || return
	initramfs_fill "$dir" && (cd "$dir" && find . | cpio -o -H newc --quiet) >"$dir.cpio" &&
		mv "$dir.cpio" "$initramfs"
	rc=$?
	rm -rf "$dir" "$dir.cpio"
	return $rc
}

initramfs_fill() {
	local applet
	mkdir "$1/bin" "$1/modules" "$1/modules/wire"
	cp "$busybox" "$1/bin/busybox" && cp "$vm/init" "$1/init" && chmod 755 "$1/init" || return
	for applet in "${initramfs_applets[@]}"; do
		ln -s busybox "$1/bin/$applet"
	done
	initramfs_copy "$1/modules" "${initramfs_modules[@]}" &&
		initramfs_copy "$1/modules/wire" "${initramfs_wire_modules[@]}"
}

# initramfs_copy DIR MODULE…: the files to load, numbered in order, uncompressed.
initramfs_copy() {
	local dir=$1 module file number=100
	shift
	for module; do
		modprobe -C /dev/null -d "$kernel" -S "$(basename "$kernel"/lib/modules/*)" \
			--show-depends "$module" || say "this kernel has no module $module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
		number=$((number + 1))
		module=$(basename "$file")
		module=${module%%.*}.ko
		compgen -G "${dir%/wire}/*-$module" >/dev/null && continue
		case $file in
		*.xz) xz -dc "$file" ;;
		*.zst) zstd -dcq "$file" ;;
		*.gz) gzip -dc "$file" ;;
		*) cat "$file" ;;
		esac >"$dir/$number-$module" || return
	done
}
