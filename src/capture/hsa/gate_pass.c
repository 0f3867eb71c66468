#include "capture/hsa/gate_pass.h"

#include <sched.h>

#include <hsa/hsa.h>

#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_kernels.h"
#include "capture/hsa/watch.h"
#include "capture/session.h"

/* Collecting on the submitting thread starts when so few of the slots are left. */
#define SLOTS_LEFT_SHIFT 2
#define YIELDS_MOST	 64

/* One pass over a ring: what its packets have in common. */
struct pass {
	struct gate *gate;
	struct writer *writer;
	uint64_t ns;
	uint64_t index;
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

static void gate_add(_Atomic uint64_t *count, uint64_t n)
{
	/* Only the gate's holder stores. */
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/* The application's signal stays; its ticks are waited for. */
static enum record_untimed watch_dispatch(struct slot *slot, uint64_t sequence,
					  struct slot_ring *ring, struct object *watched)
{
	uint64_t reference = slot_reference(ring, sequence);
	enum record_untimed untimed;

	slot_use_watched(slot, SLOT_WATCHED, watched);
	untimed = watch_begin(watched, reference);
	if (untimed) {
		slot_cancel(slot, sequence);
		return untimed;
	}
	/* The device gets the packet later; the doorbell publishes these stores. */
	__atomic_store_n(&slot->signal->start_ts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->signal->end_ts, 0, __ATOMIC_RELAXED);
	/* False: a packet on another queue took the signal since, and settled this slot. */
	slot_submit(slot, sequence);
	return RECORD_UNTIMED_NO;
}

static enum record_untimed own_dispatch(struct slot *slot, uint64_t sequence,
					hsa_kernel_dispatch_packet_t *packet)
{
	if (!slot_use_own(slot)) {
		slot_cancel(slot, sequence);
		return RECORD_UNTIMED_NO_SLOT;
	}
	packet->completion_signal.handle = (uint64_t)(uintptr_t)slot->signal;
	slot_submit(slot, sequence);
	return RECORD_UNTIMED_NO;
}

/* Sees to it that the packet's times can be read later; tells when they cannot. */
static enum record_untimed time_dispatch(struct pass *pass, hsa_kernel_dispatch_packet_t *packet)
{
	struct slot_ring *ring = pass->gate->slots;
	struct object *watched = NULL;
	struct slot *slot;
	uint64_t sequence;

	if (packet->completion_signal.handle) {
		watched = watch_find(packet->completion_signal);
		if (!watched)
			return RECORD_UNTIMED_FOREIGN_SIGNAL;
	}
	slot = slot_take(ring, &sequence);
	if (!slot) {
		if (watched)
			watch_begin(watched, 0);
		return RECORD_UNTIMED_NO_SLOT;
	}
	slot->subject = pass->index;
	slot->submit_ns = pass->ns;
	if (watched)
		return watch_dispatch(slot, sequence, ring, watched);
	return own_dispatch(slot, sequence, packet);
}

static void pass_dispatch(struct pass *pass, hsa_kernel_dispatch_packet_t *packet)
{
	struct frame_context context = reservations_take(&pass->gate->reservations, pass->index);
	uint64_t own_signal = packet->completion_signal.handle;
	enum record_untimed untimed = time_dispatch(pass, packet);
	struct record_dispatch *r = writer_reserve(pass->writer, RECORD_DISPATCH, sizeof(*r));

	gate_add(&pass->gate->dispatches, 1);
	if (!context.cid)
		gate_add(&pass->gate->without_context, 1);
	if (!r)
		return;
	r->packet_index = pass->index;
	r->cid = context.cid;
	r->scope = context.scope;
	r->ns = pass->ns;
	r->kernel_object = packet->kernel_object;
	r->completion_signal = own_signal;
	r->kernel = hsa_kernels_find(packet->kernel_object);
	r->ordinal = context.ordinal;
	r->grid[0] = packet->grid_size_x;
	r->grid[1] = packet->grid_size_y;
	r->grid[2] = packet->grid_size_z;
	r->workgroup[0] = packet->workgroup_size_x;
	r->workgroup[1] = packet->workgroup_size_y;
	r->workgroup[2] = packet->workgroup_size_z;
	r->setup = packet->setup;
	r->private_bytes = packet->private_segment_size;
	r->group_bytes = packet->group_segment_size;
	r->packet_header = packet->header;
	r->untimed = (uint16_t)untimed;
	r->tid = context.tid;
	writer_commit(pass->writer, r, RECORD_DISPATCH, sizeof(*r), pass->gate->queue_id);
}

static void pass_barrier(struct pass *pass, const hsa_barrier_and_packet_t *packet)
{
	struct frame_context context = reservations_take(&pass->gate->reservations, pass->index);
	struct record_barrier *r = writer_reserve(pass->writer, RECORD_BARRIER, sizeof(*r));

	gate_add(&pass->gate->barriers, 1);
	watch_pass(packet->completion_signal);
	if (!r)
		return;
	r->packet_index = pass->index;
	r->cid = context.cid;
	r->ns = pass->ns;
	for (int i = 0; i < 5; i++)
		r->dep_signal[i] = packet->dep_signal[i].handle;
	r->completion_signal = packet->completion_signal.handle;
	r->packet_header = packet->header;
	r->ordinal = context.ordinal;
	writer_commit(pass->writer, r, RECORD_BARRIER, sizeof(*r), pass->gate->queue_id);
}

static void pass_packet(struct pass *pass, union packet *packet, uint16_t header)
{
	switch (header & 0xff) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		pass_dispatch(pass, &packet->dispatch);
		break;
	case HSA_PACKET_TYPE_BARRIER_AND:
	case HSA_PACKET_TYPE_BARRIER_OR:
		pass_barrier(pass, &packet->barrier);
		break;
	default:
		reservations_take(&pass->gate->reservations, pass->index);
		watch_pass(packet->any.completion_signal);
		gate_add(&pass->gate->others, 1);
	}
}

/* Where the scan may go at most. A slot may only be written when the device has consumed what was
 * in it a ring before; until then its old header stands there. */
static uint64_t scan_limit(const struct gate *gate)
{
	uint64_t reserved = atomic_load_explicit(&gate->virtual_index, memory_order_acquire);
	uint64_t consumed = __atomic_load_n(&gate->queue->read_dispatch_id, __ATOMIC_ACQUIRE);
	uint64_t writable = consumed + gate->queue->hsa_queue.size;

	return reserved < writable ? reserved : writable;
}

/* Few free slots mean that the monitor gets no time: do its work for a moment. When it lost the CPU
 * in the middle of it, it gets this thread's, within bounds. */
static void make_room(struct gate *gate)
{
	uint64_t slots = gate->slots->mask + 1;

	for (int i = 0; i < YIELDS_MOST; i++) {
		if (slot_ring_outstanding(gate->slots) <= slots - (slots >> SLOTS_LEFT_SHIFT) ||
		    slot_ring_collect(gate->slots, false) ||
		    !slot_ring_is_being_collected(gate->slots))
			return;
		sched_yield();
	}
}

static void publish(struct gate *gate, uint64_t next)
{
	atomic_store_explicit(&gate->next, next, memory_order_relaxed);
	hsa_next.hsa_queue_store_write_index_screlease(&gate->queue->hsa_queue, next);
	hsa_next.hsa_signal_store_screlease(gate->queue->hsa_queue.doorbell_signal,
					    (hsa_signal_value_t)(next - 1));
}

uint64_t gate_pass(struct gate *gate)
{
	union packet *packets = gate->queue->hsa_queue.base_address;
	uint64_t mask = gate->queue->hsa_queue.size - 1;
	uint64_t first = atomic_load_explicit(&gate->next, memory_order_relaxed);
	uint64_t limit = scan_limit(gate);
	bool traces = gate_is_tracing(gate);
	struct pass pass = {.gate = gate, .index = first};

	if (traces) {
		pass.writer = session_writer();
		pass.ns = session_now_ns();
		make_room(gate);
	}
	for (; pass.index < limit; pass.index++) {
		union packet *packet = &packets[pass.index & mask];
		/* Pairs with the release by which the application made the packet valid. */
		uint16_t header = atomic_load_explicit(&packet->header, memory_order_acquire);

		if ((header & 0xff) == HSA_PACKET_TYPE_INVALID)
			break;
		if (traces)
			pass_packet(&pass, packet, header);
	}
	if (pass.index > first)
		publish(gate, pass.index);
	return pass.index - first;
}
