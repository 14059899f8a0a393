/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thresholds: from where on a figure counts. One for each meaning, each with its source: measured
 * (by us or by others), physical (it follows from how the thing works), or chosen.
 */
#pragma once

/* A ceiling is reached. */
#define REACHED_SURELY 0.98  /* of a link: chosen; healthy adapters reach 98 to 99.5 % */
#define REACHED_MAYBE  0.95  /* of a link: measured, OCI's and ngc_multinode_perf's lower bounds */
#define PCIE_SHARE     0.96  /* of a PCIe link's payload rate: measured, gdr_bw(1) */
#define SCHEDULE_KEPT  0.95  /* of --rate_limit: chosen */
#define SCHEDULE_MET   0.995 /* of --rate_limit, but for the ends of the run: chosen */
#define ABOVE_LINK     1.02  /* of a link: physical, but for 2 % for its clock and ours */
#define LINKS_ALIKE    1.05  /* links of one kind differ by less: measured */

/* Shares of a run's time. */
#define TIME_SAID   0.01 /* is told, and disturbs: chosen, as large as the noise of a quiet host */
#define TIME_COUNTS 0.05 /* may limit the run: chosen */
#define EXPLAINS    0.7  /* of what the run lacks: chosen; less leaves room for another cause */
#define REST_USED   0.9  /* of the link in the rest of the time: chosen, the same */

/* Waiting. */
#define NEVER_FULL      0.1  /* of the time: chosen; so much is the end of a batch */
#define MOSTLY_FULL     0.5  /* chosen */
#define WAITS_SCHEDULE  0.1  /* of the time: physical; a sender that is late never waits for it */
#define QUEUES_LEAST    0.99 /* times in the run, in those of a lone message: chosen, their noise */
#define QUEUES_NOTHING  1.05 /* chosen, the same */
#define QUEUES_LITTLE   1.3  /* chosen */
#define QUEUES_FILLED   10   /* send queues: fewer say nothing of how full they are: chosen */
#define QUEUE_IN_FLIGHT 0.75 /* of a send queue, the rest waits for its completion: measured */
#define FEW_IN_FLIGHT   4 /* up to here a lone message's own transfer may be the limit: physical */
#define LITTLE_TRANSFER 0.05 /* of a lone message's time: chosen, room for a hidden cap of 5 % */
#define LEAST_TRANSFER  1e-3 /* the same of one message on a QP: chosen, 1 Gb/s is a common cap */
#define RECEIVER_BUSY   0.9  /* of its polls find messages: chosen */

/* A thread's CPU. */
#define CPU_LEAST        0.98 /* of the time: measured, the kernel's own work takes 0.1 to 0.5 % */
#define CPU_LACK_S       1e-4 /* and at most 50 us at a time: measured */
#define CPU_COUNTS_S     1e-3 /* before it limits a run: chosen */

/* Packets and messages. */
#define AGAIN_COUNTS 1e-3 /* of the messages sent again, refused or lost: chosen */
#define FEW_RESENT   3    /* messages: one or two happen: chosen */
#define NAKS_AGREE   0.5  /* of one end's count is the other's at least: chosen */
#define OTHER_COUNTS 0.05 /* of the run's own bytes: less may be headers and warm-up: measured */
#define FEW_ERRORS   10   /* of a link: one or two happen: chosen */
#define STALLS_S     2    /* the driver counts whole seconds, one may be before the run: physical */

/* Other conditions of a run. */
#define FAULT_TAKES_S      1e-6 /* a page fault: measured, 0.5 to 2 us */
#define FAULTS_PER_MESSAGE 1e-3 /* in a latency test: physical, p99.9 depends on so many */
#define FAULTS_FEW         10   /* chosen */
#define STEAL_COUNTS       0.01 /* of the CPU: chosen */
#define OVERLAP_LEAST      0.9  /* of the time of both directions: chosen */

/* One QP of a fast port. */
#define FAST_LINK_GBPS 199 /* measured: nccl#2409, pegaflow#291 */
#define ONE_QP_REACHES 0.7 /* of the link: the same */
