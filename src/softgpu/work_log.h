/* The work log: one line for each packet that the device took and each copy that an engine began,
 * written by the device alone. It is what a tracer's recording can be compared with. Off unless
 * work_log= names a file. docs/softgpu.md has the columns.
 *
 * The lines are stored into a shared mapping of the file, so they outlive the process however it
 * ends. A line is complete before the packet's slot is free again: whoever sees that a packet was
 * taken finds its line.
 *
 * Threading: work_log_open by one thread at a time; the rest from the device's own threads. Cost of
 * a line: one formatting of text under a lock; a system call for each MiB. */
#ifndef SOFTGPU_WORK_LOG_H
#define SOFTGPU_WORK_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct softgpu_queue;

struct work_log_copy {
	uint32_t agent; /* whose engine */
	uint32_t from;	/* the agents that the program named */
	uint32_t to;
	size_t bytes;
	uint64_t begin_tick;
};

/* Makes the file once, if one is configured. 0 or a negative errno. */
int work_log_open(void);

bool work_log_wanted(void);

/* PACKET: the 64 bytes of a packet, with its header. Both return the place where the line's end
 * tick is still missing, for work_log_end; 0: no line was written. */
uint64_t work_log_packet(const struct softgpu_queue *queue, uint64_t packet_index,
			 const void *packet, uint64_t begin_tick);
uint64_t work_log_copy(const struct work_log_copy *copy);

/* The packet or copy is over. Nothing happens when PLACE is 0. */
void work_log_end(uint64_t place, uint64_t end_tick);

#endif
