/* One pass of a gate: scans the packets, records them, takes completion slots for dispatches,
 * publishes the packets and rings the device's doorbells. Called by the gate's holder. */
#include "capture/hsa/gate_pass.h"

#include <sched.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/hsa/app_signal.h"
#include "capture/hsa/completion.h"
#include "capture/hsa/gate_resort.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_kernels.h"
#include "capture/hsa/monitor_state.h"
#include "capture/hsa/serial.h"

/* The submitting thread waits for the monitor when less than 1 / 2^SLOTS_LEFT_SHIFT of the
 * completion slots is free. */
#define SLOTS_LEFT_SHIFT 2
/* After each wait that made no room, twice as many passes and one more begin without a wait, until
 * there are at least this many. */
#define UNWAITED_MOST	 1000

static void gate_add(_Atomic uint64_t *count, uint64_t n)
{
	/* A load and a store are enough, because only the gate's holder stores. */
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

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

static bool is_taken(const struct pass *pass)
{
	return __atomic_load_n(&pass->gate->queue->read_dispatch_id, __ATOMIC_ACQUIRE) >
	       pass->index;
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
	if (t->source->begin(t->slot, t->watched) && !(pass->is_foreign && is_taken(pass)))
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
		if (!context.cid)
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
	reservations_take(&pass->gate->reservations, pass->reserved);
	if (!gate_store_begin(pass->gate))
		return false;
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

/* Returns the index at which the scan ends at the latest. A packet may be written only after the
 * device has consumed the packet one ring length before it; until then the ring still holds the old
 * packet's header. */
static uint64_t scan_limit(const struct gate *gate)
{
	uint64_t reserved = atomic_load_explicit(&gate->virtual_index, memory_order_acquire);
	uint64_t consumed = __atomic_load_n(&gate->queue->read_dispatch_id, __ATOMIC_ACQUIRE);
	uint64_t writable = consumed + gate->queue->hsa_queue.size;

	return reserved < writable ? reserved : writable;
}

static bool has_room(const struct gate *gate)
{
	uint64_t slots = gate->slots->mask + 1;

	return slot_ring_outstanding(gate->slots) <= slots - (slots >> SLOTS_LEFT_SHIFT);
}

/* Waits for the monitor to free completion slots. Returns true when there is room, or when the
 * monitor got no CPU within TIMER_SLOT_ROOM. False: the monitor has looked at everything that is
 * outstanding, and the device has not completed enough of it. */
static bool await_room(const struct gate *gate)
{
	struct timer_limit limit = timer_start(TIMER_SLOT_ROOM);
	uint32_t looks = hsa_monitor_looks();

	hsa_monitor_wake();
	while (!has_room(gate) && hsa_monitor_looks() - looks < 2) {
		if (timer_is_over(limit))
			return true;
		sched_yield();
	}
	return has_room(gate);
}

/* When few completion slots are free, the monitor probably gets no CPU. This thread then yields its
 * own, within limits, until the monitor has looked at everything that is outstanding. While a long
 * kernel occupies the oldest slot this makes no room, so it is tried again less and less often. */
static void make_room(struct gate *gate)
{
	if (__builtin_expect(has_room(gate), 1))
		return;
	if (hsa_monitor_is_mine()) {
		slot_ring_collect(gate->slots);
	} else if (gate->unwaited.passes > 0) {
		gate->unwaited.passes--;
	} else if (await_room(gate)) {
		gate->unwaited.most = 0;
	} else {
		if (gate->unwaited.most < UNWAITED_MOST)
			gate->unwaited.most = gate->unwaited.most * 2 + 1;
		gate->unwaited.passes = gate->unwaited.most;
	}
}

static void raise_reserved(struct gate *gate, uint64_t index)
{
	uint64_t reserved = atomic_load_explicit(&gate->virtual_index, memory_order_relaxed);

	while (reserved < index &&
	       !atomic_compare_exchange_weak_explicit(&gate->virtual_index, &reserved, index,
						      memory_order_acq_rel, memory_order_relaxed))
		;
}

/* WRITTEN: the queue's write index, which another tool has moved. */
static void follow_to(struct gate *gate, uint64_t written)
{
	gate->published = gate->foreign_end = written;
	atomic_store_explicit(&gate->is_foreign, true, memory_order_relaxed);
	raise_reserved(gate, written);
}

void gate_follow_index(struct gate *gate)
{
	uint64_t written = __atomic_load_n(&gate->queue->write_dispatch_id, __ATOMIC_ACQUIRE);

	if (gate_has_index(gate) && written > gate->published)
		follow_to(gate, written);
}

/* Moves the device's write index up to INDEX by compare-and-swap. It never moves it back: another
 * tool may have moved it further in the meantime. The release publishes the packets and what was
 * stored in them to the device. */
static void move_index(struct gate *gate, uint64_t index)
{
	const hsa_queue_t *queue = &gate->queue->hsa_queue;

	while (gate->published < index) {
		uint64_t seen =
			hsa_next.hsa_queue_cas_write_index_screlease(queue, gate->published, index);

		if (seen > gate->published)
			follow_to(gate, seen);
		else
			gate->published = seen == gate->published ? index : seen;
	}
}

static void publish(struct gate *gate, uint64_t write_index, uint64_t next)
{
	atomic_store_explicit(&gate->next, next, memory_order_relaxed);
	move_index(gate, write_index);
}

/* Rings the device's doorbell as often as the application has rung. RUNG was read before the pass,
 * so the pass has seen the packets of those doorbells. While announced packets are not written, one
 * doorbell is kept back for them, because their writer need not ring. If no doorbell is left and
 * packets were published, one more is rung; it is subtracted when the writer rings after all (`due`
 * is then one less). */
static void forward_doorbells(struct gate *gate, uint64_t rung, uint64_t published)
{
	uint64_t next = atomic_load_explicit(&gate->next, memory_order_relaxed);
	int64_t due = (int64_t)(rung - gate->forwarded);

	if (gate_has_unpublished(gate))
		due = published ? due - 1 : 0;
	if (published && due < 1)
		due = 1;
	/* next == 0: no packet was ever published, so there is no index to ring with. */
	if (due < 1 || !next)
		return;
	gate->forwarded += (uint64_t)due;
	while (due--)
		hsa_next.hsa_signal_store_screlease(gate->queue->hsa_queue.doorbell_signal,
						    (hsa_signal_value_t)(next - 1));
}

/* For a gate that does not record: the device gets what it would get without the tool, all reserved
 * packets and the furthest doorbell, and waits itself for packets that are not written. Returns how
 * many packets the doorbell newly covers. */
static uint64_t let_through(struct gate *gate)
{
	uint64_t next = atomic_load_explicit(&gate->next, memory_order_relaxed);
	uint64_t announced = atomic_load_explicit(&gate->announced, memory_order_relaxed);

	if (announced > next)
		publish(gate, atomic_load_explicit(&gate->virtual_index, memory_order_acquire),
			announced);
	return announced > next ? announced - next : 0;
}

/* Lets the packets pass that were reserved before the recording began, as far as a doorbell has
 * covered them. The device waits itself for those that are not written. Returns whether all of them
 * have passed; before that, no later packet passes. */
static bool pass_unrecorded(struct gate *gate)
{
	uint64_t next = atomic_load_explicit(&gate->next, memory_order_relaxed);
	uint64_t first = atomic_load_explicit(&gate->traced_first, memory_order_relaxed);
	uint64_t announced = atomic_load_explicit(&gate->announced, memory_order_relaxed);
	uint64_t end = announced < first ? announced : first;

	if (next >= first)
		return true;
	if (end > next && gate_store_begin(gate)) {
		publish(gate, first, end);
		gate_store_end(gate, end);
	}
	return end == first;
}

void pass_begin(struct pass *pass)
{
	make_room(pass->gate);
	pass->writer = session_writer();
	pass->ns = session_now_ns();
}

static uint16_t header_of(const union packet *slot)
{
	/* Pairs with the release by which the application made the packet valid. */
	return atomic_load_explicit(&slot->header, memory_order_acquire);
}

static bool is_valid(uint16_t header)
{
	return (header & 0xff) != HSA_PACKET_TYPE_INVALID;
}

/* Copies the packet with one read of the ring, which may lie in the device's memory. */
static union packet packet_copy(const union packet *slot, uint16_t header)
{
	union packet copy;

	memcpy((char *)&copy + sizeof(header), (const char *)slot + sizeof(header),
	       sizeof(copy) - sizeof(header));
	atomic_store_explicit(&copy.header, header, memory_order_relaxed);
	return copy;
}

/* Records a packet that this gate publishes. Returns false when it is not written or is held back,
 * or when the gate was taken over. */
static bool pass_own(struct pass *pass, union packet *slot)
{
	struct gate *gate = pass->gate;
	uint16_t header = header_of(slot);
	union packet packet;
	bool is_ours;

	if (!is_valid(header))
		return false;
	packet = packet_copy(slot, header);
	if (gate->turn && !serial_may_pass(pass, &packet, header))
		return false;
	is_ours = pass_packet(pass, &packet, header, &slot->any.completion_signal);
	if (gate->turn && is_ours)
		serial_passed(pass, header);
	else if (gate->turn)
		serial_leave(gate);
	return is_ours;
}

/* Counts a packet that the device has taken before it could be copied. */
static bool pass_gone(struct pass *pass)
{
	reservations_take(&pass->gate->reservations, pass->reserved);
	if (!gate_store_begin(pass->gate))
		return false;
	gate_add(&pass->gate->unrecorded, 1);
	gate_store_end(pass->gate, pass->index + 1);
	return true;
}

/* The same as packet_copy for a packet that may be overwritten meanwhile: the caller then drops the
 * copy. The data race is intended. */
__attribute__((no_sanitize("thread"))) static union packet packet_glimpse(const union packet *slot,
									  uint16_t header)
{
	const volatile uint64_t *words = (const volatile uint64_t *)(const void *)slot;
	union packet copy;

	for (int i = 0; i < 7; i++)
		copy.any.words[i] = words[i];
	copy.any.completion_signal.handle = words[7];
	atomic_store_explicit(&copy.header, header, memory_order_relaxed);
	return copy;
}

/* Records a packet that another tool has published. The copy is valid if the device has not taken
 * the packet after it was made, because only then may another packet be written in its place. */
static bool pass_foreign(struct pass *pass, const union packet *slot)
{
	uint16_t header = header_of(slot);
	union packet packet;
	bool is_ours;

	if (is_valid(header))
		packet = packet_glimpse(slot, header);
	if (is_taken(pass))
		return pass_gone(pass);
	/* The device is just taking the packet. */
	if (!is_valid(header))
		return false;
	pass->is_foreign = true;
	is_ours = pass_packet(pass, &packet, header, NULL);
	pass->is_foreign = false;
	return is_ours;
}

/* Records packets from `next` on. Returns the index of the first packet that is not to be published
 * yet. */
static uint64_t scan_packets(struct gate *gate)
{
	union packet *packets = gate->queue->hsa_queue.base_address;
	uint64_t mask = gate->queue->hsa_queue.size - 1;
	bool has_come = pass_unrecorded(gate);
	uint64_t first = atomic_load_explicit(&gate->next, memory_order_relaxed);
	uint64_t limit = scan_limit(gate);
	struct pass pass = {.gate = gate, .index = first};

	if (!has_come)
		return first;
	pass_begin(&pass);
	for (; pass.index < limit; pass.index++) {
		union packet *slot = &packets[pass.index & mask];

		pass.reserved = pass.index;
		if (!(pass.index < gate->foreign_end ? pass_foreign(&pass, slot)
						     : pass_own(&pass, slot)))
			break;
	}
	return pass.index;
}

/* For a gate that was taken over: all packets pass and count as unrecorded. */
static void let_through_unrecorded(struct gate *gate)
{
	gate_add(&gate->unrecorded, let_through(gate));
}

void pass_publish_counted(struct gate *gate, uint64_t at)
{
	if (at > atomic_load_explicit(&gate->next, memory_order_relaxed))
		publish(gate, at, at);
}

/* Publishes valid packets that a doorbell has covered and that no thread has reserved: their writer
 * does not use the queue's write index. They count as unrecorded. */
static void pass_unreserved(struct gate *gate)
{
	const union packet *packets = gate->queue->hsa_queue.base_address;
	uint64_t size = gate->queue->hsa_queue.size;
	uint64_t first = atomic_load_explicit(&gate->next, memory_order_relaxed), end = first;
	uint64_t limit = __atomic_load_n(&gate->queue->read_dispatch_id, __ATOMIC_ACQUIRE) + size;
	uint64_t announced = atomic_load_explicit(&gate->announced, memory_order_relaxed);

	gate->passes_unreserved = false;
	if (limit > announced)
		limit = announced;
	while (end < limit && is_valid(header_of(&packets[end & (size - 1)])))
		end++;
	if (!gate_index_is_behind(gate) || end == first)
		return;
	gate_add(&gate->unrecorded, end - first);
	raise_reserved(gate, end);
	publish(gate, end, end);
}

uint64_t gate_pass(struct gate *gate)
{
	/* Pairs with the release in gate_ring: the packets that were written before those doorbells
	 * are visible. */
	uint64_t rung = atomic_load_explicit(&gate->rung, memory_order_acquire);
	uint64_t before = atomic_load_explicit(&gate->next, memory_order_relaxed), end = before;
	bool is_tracing = gate_is_tracing(gate);
	bool is_taken_over = atomic_load_explicit(&gate->is_taken_over, memory_order_relaxed);

	gate_follow_index(gate);
	if (is_tracing && !is_taken_over)
		end = scan_packets(gate);
	if (!gate_store_begin(gate))
		return 0;
	if (is_tracing && is_taken_over)
		let_through_unrecorded(gate);
	else if (is_tracing)
		pass_publish_counted(gate, end);
	else
		let_through(gate);
	if (is_tracing && gate->passes_unreserved)
		pass_unreserved(gate);
	end = atomic_load_explicit(&gate->next, memory_order_relaxed);
	forward_doorbells(gate, rung, end - before);
	gate_store_end(gate, end);
	return end - before;
}
