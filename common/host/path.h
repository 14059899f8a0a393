/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path: the way over PCIe between two devices, a NIC and a GPU: how far, how fast, what is in it.
 *
 * hwloc gives the tree (of this machine, or of HWLOC_XMLFILE, which is checked: a missing file is
 * an error here, where hwloc would silently use the live machine); link speeds are read from sysfs
 * (sysfs.h, so RDMARK_SYSFS moves the root), and from hwloc's attributes only where the XML
 * describes another machine. With RDMARK_SYSFS and no XML there is no tree: every distance is
 * unknown, the devices' own links are not. Everything is data: nothing is printed, nothing raised
 * but a file that cannot be read. A tree does not change; any thread may ask it.
 */
#ifndef RDMARK_HOST_PATH_H
#define RDMARK_HOST_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define PATH_USUAL_PAYLOAD_BYTES 256 /* what the firmware of servers sets nearly always */

/* Nearest first. The names are NVIDIA's and users'. */
enum path_class {
	PATH_PIX,     /* one PCIe switch between them at most */
	PATH_PXB,     /* several switches, but no host bridge */
	PATH_PHB,     /* through one host bridge */
	PATH_NODE,    /* between host bridges of one NUMA node */
	PATH_SYS,     /* between NUMA nodes */
	PATH_UNKNOWN, /* one of them is not in the tree, or attached to all nodes alike */
	PATH_CLASSES
};

/*
 * One PCIe link, named after the device at its lower end. What both ends could do is the lesser of
 * their capabilities, known only if both are: a gen-5 card in a gen-4 slot is no bad training.
 */
struct path_link {
	char pci[16];   /* "" : no link is known */
	double gts;     /* current transfer rate of a lane, GT/s */
	unsigned width; /* current lanes */
	double max_gts; /* what both of its ends could do; 0 unknown */
	unsigned max_width;
};

struct path {
	enum path_class class;
	struct path_link nic, gpu; /* the slowest link of each leg: device up to where they meet */
	bool trained_down;         /* a link of either leg runs below what both its ends can */
	struct path_link down;     /* that link; the worst one */
	char iommu[24];            /* the NIC's: "off", "identity", "DMA", "DMA-FQ"; "" unknown */
	bool iommu_translates;
	bool virtual_machine;      /* distance means nothing */
	unsigned payload_bytes;    /* PCIe MaxPayload that the ceilings count with */
	bool payload_assumed;      /* not read, which only root can */
	double ceiling_write_gbps; /* payload rate of posted writes over the slower leg; 0 unknown
				    */
	double ceiling_read_gbps;  /* and of read completions */
};

struct path_tree;

/* Load the tree. Raises FAULT_LOCAL if HWLOC_XMLFILE cannot be used. Close also after a failure. */
int path_open(struct path_tree **t, struct fault *f);
void path_close(struct path_tree *t); /* NULL is fine */

/*
 * The way between the devices at the PCI addresses NIC and GPU ("0000:41:00.0"; "" or anything else
 * for one that is not on PCI). Never fails. Links are read now: an idle GPU may have slowed its
 * link down, so ask when it has just been busy.
 */
void path_find(const struct path_tree *t, const char *nic, const char *gpu, struct path *p);

/*
 * Sort the COUNT addresses GPU by their distance from NIC: class, then slowest link, then as given.
 * RANK receives indexes into GPU, nearest first.
 */
void path_rank(const struct path_tree *t, const char *nic, const char *const *gpu, size_t count,
	       size_t *rank);

const char *path_class_name(enum path_class c); /* "PIX"; "unknown" */
/* In words: "through one PCIe switch at most". */
const char *path_class_words(enum path_class c);

/* Payload Gb/s of a link with MaxPayload PAYLOAD_BYTES; READ: of read completions. 0 unknown. */
double path_link_gbps(const struct path_link *l, unsigned payload_bytes, bool read);

/* Of L and the link FOUND so far: FOUND becomes the one that carries less; unknown ones never do.
 */
void path_link_slower(struct path_link *found, const struct path_link *l);

/*
 * The current fraction of what both ends could do: 1, or less if it is trained down; unknown is 1.
 */
double path_link_share(const struct path_link *l);

/*
 * The lanes and their rate of a link that carries GBYTES_PER_S after line coding, as hwloc says it.
 * Where several fit (gen3 x16 is gen4 x8), the widest of up to 16 lanes. Zeros if none does.
 */
void path_link_of_speed(struct path_link *l, double gbytes_per_s);

/* "gen4 x16 at 0000:17:00.0" (16 GT/s is gen4); "" if unknown. Returns BUF. */
const char *path_link_format(const struct path_link *l, char *buf, size_t size);

#endif
