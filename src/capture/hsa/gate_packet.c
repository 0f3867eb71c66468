/* Records one packet of a queue and decides how its dispatch is timed. */
#include "capture/hsa/gate_packet.h"

#include <string.h>

#include "capture/capture_session.h"
#include "capture/hsa/app_signal.h"
#include "capture/hsa/completion.h"
#include "capture/hsa/gate_resort.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_kernels.h"
#include "capture/hsa/serial.h"

/* Returns how a dispatch with the application's signal WATCHED, or NULL, is timed on this queue.
 * NULL: not at all. */
static const struct completion_source *choose_source(const struct pass *pass,
						     struct object *watched)
{
	const struct gate *gate = pass->gate;
	bool only_reads = gate->mode == RECORD_QUEUE_OBSERVE || pass->is_foreign;

	if (!watched)
		return only_reads ? NULL : &completion_own;
	if (only_reads)
		return &completion_read;
	if (gate->mode == RECORD_QUEUE_BORROW && app_signal_should_borrow(watched))
		return &completion_borrow;
	return &completion_harvest;
}

/* Begins to time a dispatch by the application's signal, which stays in the packet. */
static enum record_untimed watch_dispatch(struct slot *slot, uint64_t sequence,
					  struct slot_ring *ring, struct object *watched)
{
	enum record_untimed untimed = app_signal_begin_use(watched, slot_reference(ring, sequence));

	if (untimed) {
		slot_cancel(slot, sequence);
		return untimed;
	}
	if (slot->source == &completion_harvest)
		app_signal_clear_ticks(watched);
	/* It may return false: a packet on another queue has used the signal since and has settled
	 * this slot. */
	slot_submit(slot, sequence);
	return RECORD_UNTIMED_NO;
}

/* How a dispatch is going to be timed. */
struct timing {
	const struct completion_source *source; /* NULL: by none */
	struct object *watched;			/* the application's signal, or NULL */
	struct slot *slot;			/* NULL: not timed */
	enum record_untimed untimed;		/* why, if it is not timed */
};

static void timing_prepare(struct pass *pass, hsa_signal_t signal, struct timing *t)
{
	if (signal.handle) {
		t->watched = app_signal_find(signal);
		t->untimed = RECORD_UNTIMED_FOREIGN_SIGNAL;
		if (!t->watched)
			return;
	}
	t->source = choose_source(pass, t->watched);
	t->untimed = RECORD_UNTIMED_OBSERVED;
	if (!t->source)
		return;
	t->untimed = RECORD_UNTIMED_NO_SLOT;
	t->slot = slot_take(pass->gate->slots, &pass->sequence);
	if (!t->slot)
		return;
	t->slot->subject = pass->index;
	t->slot->submit_ns = pass->ns;
	atomic_store_explicit(&t->slot->source, t->source, memory_order_relaxed);
}

static void timing_cancel(const struct pass *pass, const struct timing *t)
{
	if (t->slot)
		slot_cancel(t->slot, pass->sequence);
}

/* Lets the source prepare the slot. Returns false when the packet is not timed. For a packet that
 * another tool has published, what the source has read of the signal is only from before the
 * packet's end if the device has not taken the packet by now. */
static bool slot_begin(const struct pass *pass, const struct timing *t)
{
	if (!t->slot)
		return false;
	if (t->source->begin(t->slot, t->watched) && !(pass->is_foreign && pass_is_taken(pass)))
		return true;
	slot_cancel(t->slot, pass->sequence);
	return false;
}

/* Begins the timing that was prepared. Returns RECORD_UNTIMED_NO, or why the packet is not
 * timed. */
static enum record_untimed timing_begin(struct pass *pass, const struct timing *t,
					hsa_signal_t *place)
{
	struct slot *slot = t->slot;

	if (!slot_begin(pass, t)) {
		if (t->watched && t->source)
			app_signal_begin_use(t->watched, 0);
		return pass->is_foreign && slot ? RECORD_UNTIMED_OBSERVED : t->untimed;
	}
	if (slot->signal == slot->own) {
		place->handle = (uint64_t)(uintptr_t)slot->signal;
		slot_submit(slot, pass->sequence);
	} else if (watch_dispatch(slot, pass->sequence, pass->gate->slots, t->watched)) {
		return RECORD_UNTIMED_SHARED_SIGNAL;
	}
	pass->has_slot = true;
	return RECORD_UNTIMED_NO;
}

static void dispatch_describe(const struct pass *pass, const hsa_kernel_dispatch_packet_t *packet,
			      const struct frame_context *context, struct record_dispatch *r)
{
	r->packet_index = pass->index;
	r->cid = context->cid;
	r->scope = context->scope;
	r->ns = pass->ns;
	r->kernel_object = packet->kernel_object;
	r->completion_signal = packet->completion_signal.handle;
	r->kernel = hsa_kernels_find(packet->kernel_object);
	r->ordinal = context->ordinal;
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
	r->tid = context->tid;
}

/* Reserves the record of the present packet and announces it in `preparing`: if the monitor takes
 * the gate over now, it counts this packet. */
static void *reserve_record(struct pass *pass, enum record_type type, size_t bytes)
{
	atomic_store_explicit(&pass->gate->preparing, type, memory_order_relaxed);
	return writer_reserve(pass->writer, type, bytes);
}

static bool pass_dispatch(struct pass *pass, const hsa_kernel_dispatch_packet_t *packet,
			  hsa_signal_t *place)
{
	struct frame_context context = reservations_take(&pass->gate->reservations, pass->reserved);
	struct timing timing = {0};
	struct record_dispatch *r;
	bool is_ours;

	timing_prepare(pass, packet->completion_signal, &timing);
	r = reserve_record(pass, RECORD_DISPATCH, sizeof(*r));
	if (r)
		dispatch_describe(pass, packet, &context, r);
	is_ours = gate_store_begin(pass->gate);
	if (is_ours) {
		timing.untimed = timing_begin(pass, &timing, place);
		gate_add(&pass->gate->dispatches, 1);
		if (context.cid)
			frame_count(context.cid, FRAME_DISPATCH);
		else
			gate_add(&pass->gate->without_context, 1);
	} else {
		timing_cancel(pass, &timing);
		timing.untimed = RECORD_UNTIMED_NO_SLOT;
	}
	if (r) {
		r->untimed = (uint16_t)timing.untimed;
		writer_commit(pass->writer, r, RECORD_DISPATCH, sizeof(*r), pass->gate->queue_id);
	}
	if (is_ours)
		gate_store_end(pass->gate, pass->index + 1);
	return is_ours;
}

static bool pass_barrier(struct pass *pass, const hsa_barrier_and_packet_t *packet)
{
	struct frame_context context = reservations_take(&pass->gate->reservations, pass->reserved);
	struct record_barrier *r = reserve_record(pass, RECORD_BARRIER, sizeof(*r));
	bool is_ours;

	if (r) {
		r->packet_index = pass->index;
		r->cid = context.cid;
		r->ns = pass->ns;
		for (int i = 0; i < 5; i++)
			r->dep_signal[i] = packet->dep_signal[i].handle;
		r->completion_signal = packet->completion_signal.handle;
		r->packet_header = packet->header;
		r->ordinal = context.ordinal;
	}
	is_ours = gate_store_begin(pass->gate);
	if (is_ours) {
		gate_add(&pass->gate->barriers, 1);
		frame_count(context.cid, FRAME_BARRIER);
		app_signal_use_untimed(packet->completion_signal);
		for (int i = 0; i < 5; i++)
			app_signal_depend(packet->dep_signal[i]);
	}
	if (r)
		writer_commit(pass->writer, r, RECORD_BARRIER, sizeof(*r), pass->gate->queue_id);
	if (is_ours)
		gate_store_end(pass->gate, pass->index + 1);
	return is_ours;
}

/* Notes the signal for whose value a barrier packet of AMD's own format waits. */
static void depend_on_value(const union packet *packet, uint16_t header)
{
	const hsa_amd_barrier_value_packet_t *barrier = (const void *)packet;

	if ((header & 0xff) == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
	    barrier->header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE)
		app_signal_depend(barrier->signal);
}

static bool pass_other(struct pass *pass, const union packet *packet, uint16_t header)
{
	struct frame_context context = reservations_take(&pass->gate->reservations, pass->reserved);

	if (!gate_store_begin(pass->gate))
		return false;
	frame_count(context.cid, FRAME_UNRECORDED);
	app_signal_use_untimed(packet->any.completion_signal);
	depend_on_value(packet, header);
	gate_add(&pass->gate->others, 1);
	gate_store_end(pass->gate, pass->index + 1);
	return true;
}

bool pass_packet(struct pass *pass, const union packet *packet, uint16_t header,
		 hsa_signal_t *place)
{
	pass->has_slot = false;
	switch (header & 0xff) {
	case HSA_PACKET_TYPE_KERNEL_DISPATCH:
		return pass_dispatch(pass, &packet->dispatch, place);
	case HSA_PACKET_TYPE_BARRIER_AND:
	case HSA_PACKET_TYPE_BARRIER_OR:
		return pass_barrier(pass, &packet->barrier);
	default:
		return pass_other(pass, packet, header);
	}
}
