/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * desc - the devices of a simulated machine, as described in text
 *
 *	NAME [KEY=VALUE | FLAG | noFLAG] ...   one device a line, or after ';'
 *
 * Text that starts with '/' or '.' names a file.  README.md lists the keys.
 */
#ifndef SIMVERBS_DESC_H
#define SIMVERBS_DESC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DESC_DEVS = 16,
	DESC_PORTS = 2,
	DESC_GIDS = 256,
};

enum desc_feature {
	DESC_QPEX = 1 << 0, /* ibv_wr_* */
	DESC_CQEX = 1 << 1, /* ibv_create_cq_ex */
	DESC_DMABUF = 1 << 2,
	DESC_SRQ = 1 << 3,
	DESC_ATOMICS = 1 << 4,
	DESC_RELAXED = 1 << 5,      /* IBV_ACCESS_RELAXED_ORDERING */
	DESC_GRH = 1 << 6,          /* IBV_QPF_GRH_REQUIRED */
	DESC_DEVEX = 1 << 7,        /* ibv_query_device_ex */
	DESC_CQ_OVERRUN = 1 << 8,   /* IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN */
	DESC_PEERMEM = 1 << 9,      /* ibv_reg_mr of GPU memory */
	DESC_GPU_BLOCKED = 1 << 10, /* GPU memory registers, but cannot be reached */
	DESC_ODP = 1 << 11,         /* IBV_ACCESS_ON_DEMAND */
	DESC_IWARP = 1 << 12,       /* only RC, only through rdma_cm, no immediates */
	DESC_EFA = 1 << 13,         /* SRD and UD only, no link layer of its own */
	DESC_XRC = 1 << 14,
	DESC_LAST_HEADER = 1 << 15, /* ibv_wr_complete writes that of the last request alone */
	DESC_TD = 1 << 16, /* thread domains */
	DESC_ALL = (1 << 17) - 1,
};

struct desc_gid {
	uint8_t raw[16];
	int version; /* 0 none, 1 IB or RoCE v1, 2 RoCE v2 */
	char netdev[16];
};

struct desc_port {
	bool ethernet, unspecified; /* neither: InfiniBand */
	int state, phys_state;      /* enum ibv_port_state; sysfs number */
	int lid, sm_lid, lmc, sl;
	int mtu, max_mtu; /* bytes */
	int speed;        /* enum of active_speed: NDR = 128 */
	int width;        /* lanes */
	int ngids;        /* size of the table */
	int pkey, pkey1;  /* the table's two entries; 0: none */
	char netdev[16];
	struct desc_gid gid[DESC_GIDS];
};

struct desc_dev {
	char name[64];
	char pci[32], fw[32];
	char pcie_speed[32]; /* as sysfs has it: "32.0 GT/s PCIe" */
	int pcie_width;
	uint64_t guid, image; /* image: sys_image_guid, of the whole card */
	int vendor, part, hw;
	int numa, nports, nvectors;
	unsigned int features;
	uint64_t max_msg, max_mr;
	int max_inline, max_qp, max_depth, max_sge, max_cq, max_cqe;
	int max_mrs, max_rd, max_init_rd, max_srq; /* rd: outstanding READs and atomics */
	int efa_caps;                              /* EFADV_DEVICE_ATTR_CAPS_… */
	uint64_t max_rdma;                         /* of one READ or WRITE of SRD */
	int shuffle; /* SRD: so many requests that are posted together run backwards */
	int gpu_fall_mbps, gpu_fall_kb;    /* both are so slow after so many 10^3 bytes */
	int gpu_read_mbps, gpu_write_mbps; /* for requests that access GPU memory; 0: no limit */
	int host_mbps, far_mbps;           /* the host's; and that of another node than numa */
	struct desc_port port[DESC_PORTS];
};

struct desc {
	int ndev;
	struct desc_dev dev[DESC_DEVS];
};

/*
 * Fill d from text, a file name, or (NULL) with the default device.  0, or
 * -1 after a line on stderr.
 */
int desc_load(struct desc *d, const char *text);

/* Name and per-lane Gb/s of a speed code; "?" and 0 when unknown. */
const char *desc_speed_name(int speed);
double desc_lane_gbps(int speed);

#endif
