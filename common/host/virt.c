// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "host/virt.h"

#include <string.h>

#include "base/text.h"
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

bool virt_is_machine(void)
{
	/* Of hypervisors and clouds. Microsoft's and Google's names alone tell nothing: they make
	 * real machines, too. */
	const char *names = "QEMU,KVM,VMware,VirtualBox,Xen,Bochs,HVM domU,innotek GmbH,BHYVE,"
			    "Hyper-V,OpenStack,Virtual Machine,Amazon EC2,RHEV,Parallels,"
			    "Google Compute Engine,AHV,Alibaba Cloud ECS,Apple Virtualization";
	char vendor[64], product[64], name[32];

	/* sysfs_read() stores "" if the file is absent. */
	sysfs_read(vendor, sizeof(vendor), "class/dmi/id/sys_vendor");
	sysfs_read(product, sizeof(product), "class/dmi/id/product_name");
	/* "p4d.24xlarge" is a virtual machine, "i3.metal" is not. */
	while (!strstr(product, ".metal") && text_next(&names, name, sizeof(name)))
		if (strstr(vendor, name) || strstr(product, name))
			return true;
	return !sysfs_is_made_up() && has_hypervisor();
}
