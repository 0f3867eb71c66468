/* What is written for the user: the counters at exit, the truth about every dispatch and copy (exact
 * host ns), which no API can give, and the packets as the device read them. All off by default. */
#ifndef SOFTGPU_REPORT_H
#define SOFTGPU_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct report_span {
	uint64_t start_ns; /* host clock */
	uint64_t end_ns;
	uint64_t start_tick; /* device clock: what the signal carries when ticks are stamped */
	uint64_t end_tick;
};

/* True when dispatches and copies are to be told. Cost: one load. */
bool report_truth_wanted(void);
void report_truth_dispatch(uint64_t queue_id, uint64_t packet_index, const char *kernel,
			   const struct report_span *span);
/* DIRECTION: "H2D", "D2H", "D2D" or "H2H". */
void report_truth_copy(const char *direction, uint64_t bytes, const struct report_span *span);

/* One line a packet, if packets are wanted: queue, index, its eight 64-bit words in hexadecimal. */
void report_packet(uint64_t queue_id, uint64_t packet_index, const void *packet);

#endif
