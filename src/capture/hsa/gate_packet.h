/* One packet of a pass (gate_pass.h): its record, its counts and its completion slot.
 *
 * All functions are called by the holder of the gate. None allocates or waits. */
#ifndef CAPTURE_HSA_GATE_PACKET_H
#define CAPTURE_HSA_GATE_PACKET_H

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

/* Records and counts PACKET, and takes a completion slot for a dispatch where it can be timed.
 * HEADER is the packet's header as it was read with acquire. A dispatch without a completion signal
 * may get one of ours, as may one whose signal is borrowed: it is stored in PLACE, the completion
 * signal of the packet that the device will read. PLACE may be NULL when `is_foreign`. Returns
 * false when the gate was taken over from this thread, which then counts nothing. */
bool pass_packet(struct pass *pass, const union packet *packet, uint16_t header,
		 hsa_signal_t *place);

/* Whether the device has taken the present packet. */
static inline bool pass_is_taken(const struct pass *pass)
{
	return __atomic_load_n(&pass->gate->queue->read_dispatch_id, __ATOMIC_ACQUIRE) >
	       pass->index;
}

/* Adds N to a counter of the gate. A load and a store are enough, because only the gate's holder
 * stores. */
static inline void gate_add(_Atomic uint64_t *count, uint64_t n)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

#endif
