/* Outputs for the user: the counters when the process ends, the truth log (the exact host times of
 * each dispatch and copy, which no interface of HSA gives), and the packet log (the packets as the
 * device read them). All are off by default; docs/softgpu.md describes their lines.
 *
 * Threading: any thread; each log has a lock. Cost of a line: one formatting of text, and a system
 * call for each 64 KiB. A forked child writes nothing. */
#ifndef SOFTGPU_REPORT_H
#define SOFTGPU_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct report_span {
	uint64_t start_ns; /* host clock */
	uint64_t end_ns;
	uint64_t start_tick; /* device clock: the ticks that a profiled signal gets */
	uint64_t end_tick;
};

/* Returns whether the truth log is configured. Cost: one load. */
bool report_truth_wanted(void);
/* Writes a dispatch that has ended to the truth log. Call only if report_truth_wanted(). */
void report_truth_dispatch(uint64_t queue_id, uint64_t packet_index, const char *kernel,
			   const struct report_span *span);
/* Writes a copy that has ended. DIRECTION: "H2D", "D2H", "D2D" or "H2H". Call only if
 * report_truth_wanted(). */
void report_truth_copy(const char *direction, uint64_t bytes, const struct report_span *span);

/* Writes the 64 bytes at PACKET to the packet log, if one is configured: queue, index, and eight
 * 64-bit words in hexadecimal. */
void report_packet(uint64_t queue_id, uint64_t packet_index, const void *packet);

#endif
