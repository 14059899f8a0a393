# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A machine's tree, as README.md describes it: to hwloc's XML on stdout, and a sysfs below `sys`.

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

$1 == "node" { node[n] = $2; if ($2 + 0 >= nodes) nodes = $2 + 1; next }
$1 == "memory" { memory[$2] = 1; next }
$1 == "everywhere" { node[n] = -1; next }
$1 == "dmi" { vendor = $2; product = $3; gsub(/_/, " ", product); next }
$1 == "host" { node[n] = node[up[n]]; address[n] = $2; next }
$1 == "port" || $1 == "nic" || $1 == "gpu" {
	node[n] = node[up[n]]
	address[n] = $2
	max[n] = word("max", "32x16")
	link[n] = word("link", max[n])
	iommu[n] = word("iommu", "identity")
	bus = substr($2, 6, 2)
	for (i = up[n]; i && kind[i] != "node" && kind[i] != "everywhere"; i = up[i]) {
		if (!(i in low) || bus < low[i]) low[i] = bus
		if (!(i in high) || bus > high[i]) high[i] = bus
	}
	next
}
{ fail("what is \"" $1 "\"?") }

# --- XML ---------------------------------------------------------------------------------------

function mask(from, count, m) {
	for (m = 0; count > 0; count--)
		m += 2 ^ (from + count - 1)
	return sprintf("0x%08x", m)
}

function sets_of(cpus, nodeset) {
	return sprintf("gp_index=\"%d\" cpuset=\"%s\" complete_cpuset=\"%s\" nodeset=\"%s\" complete_nodeset=\"%s\"",
		++ids, cpus, cpus, nodeset, nodeset)
}

# Attributes of an object on COUNT nodes from FROM on; each has two CPUs.
function sets(from, count) { return sets_of(mask(2 * from, 2 * count), mask(from, count)) }

function object(type, rest) { return "<object type=\"" type "\" " rest ">\n" }

function speed(l) {
	return gts(l) * lanes(l) / 8 * (gts(l) < 8 ? 0.8 : gts(l) < 64 ? 128 / 130 : 242 / 256)
}

function pci(i, type) {
	return sprintf("pci_busid=\"%s\" pci_type=\"%s\" pci_link_speed=\"%f\"", address[i], type, speed(link[i]))
}

function put_device(i) {
	printf "%s", object("PCIDev", sprintf("gp_index=\"%d\" ", ++ids) \
		pci(i, kind[i] == "nic" ? "0207 [15b3:1021] [15b3:0023] 00" : "0302 [10de:2330] [10de:16c1] a1"))
	if (kind[i] == "nic")
		printf "<object type=\"OSDev\" gp_index=\"%d\" name=\"sim0\" osdev_type=\"3\"/>\n", ++ids
	print "</object>"
}

function put_below(i, depth, k) {
	for (k = 1; k <= n; k++) {
		if (up[k] != i)
			continue
		if (kind[k] == "nic" || kind[k] == "gpu") {
			put_device(k)
			continue
		}
		printf "%s", object("Bridge", sprintf("gp_index=\"%d\" bridge_type=\"%d-1\" depth=\"%d\" bridge_pci=\"%s:[%s-%s]\"%s",
			++ids, kind[k] == "port", depth, substr(address[k], 1, 4), low[k], high[k],
			kind[k] == "port" ? " " pci(k, "0604 [1000:c030] [1000:100b] b0") : ""))
		put_below(k, depth + 1)
		print "</object>"
	}
}

function put_node(number, k) {
	printf "%s", object("Package", "os_index=\"" number "\" " sets(number, 1))
	printf "<object type=\"NUMANode\" os_index=\"%d\" %s local_memory=\"1073741824\"/>\n", number, sets(number, 1)
	printf "%s", object("Core", "os_index=\"" number "\" " sets(number, 1))
	for (k = 2 * number; k < 2 * number + 2; k++)
		printf "<object type=\"PU\" os_index=\"%d\" %s/>\n", k, sets_of(mask(k, 1), mask(number, 1))
	print "</object>"
	for (k = 1; k <= n; k++)
		if (kind[k] == "node" && node[k] == number)
			put_below(k, 0)
	print "</object>"
}

function put_machine(k, all) {
	print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
	print "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">"
	print "<topology version=\"2.0\">"
	all = nodes
	for (k in memory)
		all++
	printf "%s", object("Machine", "os_index=\"0\" " sets_of(mask(0, 2 * nodes), mask(0, all)) \
		" allowed_cpuset=\"" mask(0, 2 * nodes) "\" allowed_nodeset=\"" mask(0, all) "\"")
	if (vendor) {
		printf "<info name=\"DMISysVendor\" value=\"%s\"/>\n", vendor
		printf "<info name=\"DMIProductName\" value=\"%s\"/>\n", product
	}
	for (k in memory)
		printf "<object type=\"NUMANode\" os_index=\"%d\" %s local_memory=\"1073741824\"/>\n", k, sets_of("0x0", mask(k, 1))
	for (k = 0; k < nodes; k++)
		put_node(k)
	for (k = 1; k <= n; k++)
		if (kind[k] == "everywhere")
			put_below(k, 0)
	print "</object>\n</topology>"
}

# --- sysfs -------------------------------------------------------------------------------------

function dir(i) { return "devices/pci" substr(address[i], 1, 7) "/" address[i] }

function put_file(path, text) {
	print text >(sys "/" path)
	close(sys "/" path)
}

function put_link_files(d, which, l) {
	put_file(d "/" which "_link_speed", sprintf("%.1f GT/s PCIe", gts(l)))
	put_file(d "/" which "_link_width", lanes(l))
}

function put_sysfs(i, d, made) {
	made = "cd '" sys "' && mkdir -p bus/pci/devices"
	for (i = 1; i <= n; i++)
		if (i in link)
			made = made " " dir(i) (iommu[i] == "off" ? "" : "/iommu_group")
	if (vendor)
		made = made " class/dmi/id"
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
	if (vendor) {
		put_file("class/dmi/id/sys_vendor", vendor)
		put_file("class/dmi/id/product_name", product)
	}
}

END {
	if (failed)
		exit 1
	put_machine()
	put_sysfs()
}
