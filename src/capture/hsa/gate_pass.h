/* The hot half of the gate: looks at the packets that the application wrote and publishes them. */
#ifndef CAPTURE_HSA_GATE_PASS_H
#define CAPTURE_HSA_GATE_PASS_H

#include <hsa/hsa.h>

#include "capture/hsa/gate.h"

/* One pass over a ring: what its packets have in common. */
struct pass {
	struct gate *gate;
	struct writer *writer;
	uint64_t ns;
	uint64_t index;	   /* of the packet, in the queue */
	uint64_t reserved; /* the same where it was reserved: differs on intercept queues only */
	uint64_t sequence; /* of the slot that times the last dispatch */
	bool has_slot;
	bool is_foreign; /* published by another tool: the device may take it any moment */
};

union packet {
	_Atomic uint16_t header;
	hsa_kernel_dispatch_packet_t dispatch;
	hsa_barrier_and_packet_t barrier; /* barrier-OR has the same layout */
	struct {
		uint64_t words[7];
		hsa_signal_t completion_signal; /* where every standard packet has it */
	} any;
};
_Static_assert(sizeof(union packet) == 64, "AQL packet");

void pass_begin(struct pass *pass);

/* Records PACKET, counts it, and sees to it that its times can be read later. A dispatch may get a
 * completion signal of ours, which is stored in PLACE: where the packet will be read. False: the
 * gate was taken over. */
bool pass_packet(struct pass *pass, const union packet *packet, uint16_t header,
		 hsa_signal_t *place);

/* By the holder of the gate: when another tool has moved the queue's write index, its packets are
 * taken as reserved. */
void gate_follow_index(struct gate *gate);

/* By who has taken GATE over: publishes the packets before AT, which are counted. */
void pass_publish_counted(struct gate *gate, uint64_t at);

/* By the holder of the gate. Returns how many packets were published. */
uint64_t gate_pass(struct gate *gate);

#endif
