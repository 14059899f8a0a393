# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A machine's tree, as README.md describes it, to a sysfs below `sys`.

function fail(why) {
	printf "%s:%d: %s\n", FILENAME, FNR, why >"/dev/stderr"
	failed = 1
	exit 1
}

# The word NAME=… of the line, or OTHERWISE.
function word(name, otherwise, i) {
	for (i = 3; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return otherwise
}

function gts(link) { return substr(link, 1, index(link, "x") - 1) + 0 }
function lanes(link) { return substr(link, index(link, "x") + 1) + 0 }

/^[ \t]*(#|$)/ { next }

{
	match($0, /^\t*/)
	level = RLENGTH
	n++
	kind[n] = $1
	above = level ? at[level - 1] : 0
	if (level && !above)
		fail("nothing is above this")
	at[level] = n
	for (i = level + 1; i < 32; i++)
		delete at[i]
	up[n] = above
}

$1 == "node" { node[n] = $2; if ($2 + 0 > last_node) last_node = $2; next }
$1 == "memory" { next }
$1 == "everywhere" { node[n] = -1; everywhere = 1; next }
$1 == "dmi" { vendor = $2; product = $3; gsub(/_/, " ", product); next }
$1 == "host" { node[n] = node[up[n]]; address[n] = $2; next }
$1 == "port" || $1 == "nic" || $1 == "gpu" {
	node[n] = node[up[n]]
	address[n] = $2
	max[n] = word("max", "32x16")
	link[n] = word("link", max[n])
	iommu[n] = word("iommu", "identity")
	next
}
{ fail("what is \"" $1 "\"?") }

# Where device I is, below its host bridge and the ports above it.
function dir(i) {
	if (kind[i] == "host")
		return "devices/pci" address[i]
	return dir(up[i]) "/" address[i]
}

# Where simverbs-sysfs has put it.
function flat(i) { return "devices/pci" substr(address[i], 1, 7) "/" address[i] }

function put_file(path, text) {
	print text >(sys "/" path)
	close(sys "/" path)
}

function put_link_files(d, which, l) {
	put_file(d "/" which "_link_speed", sprintf("%.1f GT/s PCIe", gts(l)))
	put_file(d "/" which "_link_width", lanes(l))
}

function put_sysfs(i, d, made) {
	made = "cd '" sys "' && mkdir -p bus/pci/devices" (vendor ? " class/dmi/id" : "")
	if (everywhere)
		made = made " devices/system/node"
	for (i = 1; i <= n; i++) {
		if (!(i in link))
			continue
		d = dir(i)
		made = made " && mkdir -p " dir(up[i])
		if (d != flat(i))
			made = made " && if [ -d " flat(i) " ] && [ ! -L " flat(i) " ]; then mv " flat(i) " " d \
				" && ln -s ../../" d " " flat(i) "; fi"
		made = made " && mkdir -p " d (iommu[i] == "off" ? "" : "/iommu_group")
	}
	for (i = 1; i <= n; i++)
		if (i in link)
			made = made " && ln -sfn ../../../" dir(i) " bus/pci/devices/" address[i]
	if (system(made))
		fail("cannot write into " sys)
	for (i = 1; i <= n; i++) {
		if (!(i in link))
			continue
		d = dir(i)
		put_link_files(d, "current", link[i])
		put_link_files(d, "max", max[i])
		put_file(d "/numa_node", node[i])
		if (iommu[i] != "off")
			put_file(d "/iommu_group/type", iommu[i])
		# 16 MiB of registers, then BAR1: 64 GiB
		if (kind[i] == "gpu")
			put_file(d "/resource", "0x00000000a1000000 0x00000000a1ffffff 0x0000000000040200\n" \
				"0x0000020000000000 0x0000020fffffffff 0x000000000014220c\n" \
				"0x0000000000000000 0x0000000000000000 0x0000000000000000")
	}
	if (everywhere)
		put_file("devices/system/node/online", "0-" last_node)
	if (vendor) {
		put_file("class/dmi/id/sys_vendor", vendor)
		put_file("class/dmi/id/product_name", product)
	}
}

END {
	if (failed)
		exit 1
	put_sysfs()
}
