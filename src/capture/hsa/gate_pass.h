/* The hot half of the gate: one pass over the packets that the application has written, which
 * records and publishes them. Split from gate.c, which holds the life of a gate.
 *
 * All functions are called by the holder of the gate. None allocates. A pass waits at most
 * TIMER_SLOT_ROOM for the monitor to free completion slots. */
#ifndef CAPTURE_HSA_GATE_PASS_H
#define CAPTURE_HSA_GATE_PASS_H

#include <hsa/hsa.h>

#include "capture/hsa/gate.h"

/* The state of one pass; lives on the holder's stack. */
struct pass {
	struct gate *gate;
	struct writer *writer; /* the holder's; NULL: nothing is recorded */
	uint64_t ns;	       /* host time of the pass, written in all its records */
	uint64_t index;	       /* of the present packet, as the gate counts them */
	/* Its index in the application's write index, by which its reservation is found. Differs
	 * from `index` on intercept queues only. */
	uint64_t reserved;
	uint64_t sequence; /* of the completion slot of the last dispatch; valid if has_slot */
	bool has_slot;	   /* the last packet is timed by a completion slot */
	/* Another tool has published the packet: the device may take it at any moment. */
	bool is_foreign;
};

/* A packet of an AQL queue. */
union packet {
	_Atomic uint16_t header;
	hsa_kernel_dispatch_packet_t dispatch;
	hsa_barrier_and_packet_t barrier; /* barrier-OR has the same layout */
	struct {
		uint64_t words[7];
		hsa_signal_t completion_signal; /* at this place in every standard packet */
	} any;
};
_Static_assert(sizeof(union packet) == 64, "AQL packet");

/* Prepares PASS, whose `gate` is set: waits for free completion slots when few are left, and reads
 * the clock. */
void pass_begin(struct pass *pass);

/* Records and counts PACKET, and takes a completion slot for a dispatch where it can be timed.
 * HEADER is the packet's header as it was read with acquire. A dispatch without a completion signal
 * may get one of ours, as may one whose signal is borrowed: it is stored in PLACE, the completion
 * signal of the packet that the device will read. PLACE may be NULL when `is_foreign`. Returns
 * false when the gate was taken over from this thread, which
 * then counts nothing. */
bool pass_packet(struct pass *pass, const union packet *packet, uint16_t header,
		 hsa_signal_t *place);

/* When another tool has moved the queue's write index further than the gate, raises the virtual
 * index to it and marks the packets before it as published by that tool. */
void gate_follow_index(struct gate *gate);

/* Publishes the packets before AT, which are counted already. Does nothing when they are published.
 * Called at the end of a pass, and by the monitor when it has taken the gate over. */
void pass_publish_counted(struct gate *gate, uint64_t at);

/* Makes one pass: publishes the packets that may pass and rings the device's doorbells. Returns how
 * many packets were published; 0 also when the gate was taken over from this thread. */
uint64_t gate_pass(struct gate *gate);

#endif
