// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/virt.h"

#include <stddef.h>
#include <string.h>

#include "host/sysfs.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

#define HYPERVISOR_BIT (1u << 31) /* CPUID 1, ECX */

/* True if this machine's processor reports a hypervisor. Only x86 has such a bit. */
static bool has_hypervisor(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & HYPERVISOR_BIT);
}
#else
static bool has_hypervisor(void)
{
	return false;
}
#endif

bool virt_is_name(const char *vendor, const char *product)
{
	/* Of hypervisors and clouds. Microsoft's and Google's names alone tell nothing: they make
	 * real machines, too. */
	static const char *const names[] = {
		"QEMU",
		"KVM",
		"VMware",
		"VirtualBox",
		"Xen",
		"Bochs",
		"HVM domU",
		"innotek GmbH",
		"BHYVE",
		"Hyper-V",
		"OpenStack",
		"Virtual Machine",
		"Amazon EC2",
		"RHEV",
		"Parallels",
		"Google Compute Engine",
		"AHV",
		"Alibaba Cloud ECS",
		"Apple Virtualization",
	};
	const char *text[] = {vendor, product};

	/* "p4d.24xlarge" is a virtual machine, "i3.metal" is not. */
	if (product && strstr(product, ".metal"))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t k = 0; k < 2; k++)
			if (text[k] && strstr(text[k], names[i]))
				return true;
	return false;
}

bool virt_is_machine(void)
{
	char vendor[64], product[64];

	/* sysfs_read() stores "" if the file is absent. */
	sysfs_read(vendor, sizeof(vendor), "class/dmi/id/sys_vendor");
	sysfs_read(product, sizeof(product), "class/dmi/id/product_name");
	return virt_is_name(vendor, product) || (!sysfs_is_made_up() && has_hypervisor());
}
