/* The work log: one line for each packet that the device took and for each copy that an engine
 * began. Only the device writes it, so a recording of a tracer can be compared with it. It is off
 * unless the configuration key work_log names a file. docs/softgpu.md describes the columns. Copies
 * by packets that the program writes into a copy engine's queue (sdma_queue.h) have no line.
 *
 * The lines are stored into a shared mapping of the file, so they are in the file even if the
 * process is killed. The line of a packet is complete, except for the end tick, before the packet's
 * slot is free again: a thread that sees that a packet was taken finds its line.
 *
 * Threading: work_log_open is called by one thread at a time, the other functions by the device's
 * threads. Cost of a line: formatting of text, a copy under a lock, and a system call for each
 * MiB. */
#ifndef SOFTGPU_WORK_LOG_H
#define SOFTGPU_WORK_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct softgpu_queue;

struct work_log_copy {
	uint32_t agent; /* index of the agent that the engine belongs to */
	uint32_t from;	/* indices of the source's and the destination's agent */
	uint32_t to;
	size_t bytes;
	uint64_t begin_tick;
};

/* Creates the file, if one is configured and not yet open. Returns 0 or a negative errno. */
int work_log_open(void);

/* Returns whether a work log is configured. Cost: one load. */
bool work_log_wanted(void);

/* Write a line: for a packet, of which PACKET holds the 64 bytes with a valid header, and for a
 * copy. Both return the place of the line's end tick, which is still missing, for work_log_end; 0
 * when no line was written. */
uint64_t work_log_packet(const struct softgpu_queue *queue, uint64_t packet_index,
			 const void *packet, uint64_t begin_tick);
uint64_t work_log_copy(const struct work_log_copy *copy);

/* Writes the end tick of a packet or a copy that has ended. Does nothing when PLACE is 0. */
void work_log_end(uint64_t place, uint64_t end_tick);

#endif
