/* One pass of a gate: scans the packets, publishes them and rings the device's doorbells.
 * gate_packet.c records each packet. Called by the gate's holder. */
#include "capture/hsa/gate_pass.h"

#include <sched.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/hsa/gate_resort.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/monitor_state.h"
#include "capture/hsa/serial.h"

/* The submitting thread waits for the monitor when less than 1 / 2^SLOTS_LEFT_SHIFT of the
 * completion slots is free. */
#define SLOTS_LEFT_SHIFT 2
/* After each wait that made no room, twice as many passes and one more begin without a wait, until
 * there are at least this many. */
#define UNWAITED_MOST	 1000

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
	atomic_store_explicit(&gate->next, next, memory_order_release);
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
 * packets and the furthest doorbell, and waits itself for packets that are not written. */
static void let_through(struct gate *gate)
{
	uint64_t next = atomic_load_explicit(&gate->next, memory_order_relaxed);
	uint64_t announced = atomic_load_explicit(&gate->announced, memory_order_relaxed);

	if (announced > next)
		publish(gate, atomic_load_explicit(&gate->virtual_index, memory_order_acquire),
			announced);
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
	if (pass_is_taken(pass))
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

/* For a gate that was taken over: reserved packets that a doorbell has covered pass and count as
 * unrecorded. Those behind the write index are left to pass_unreserved. */
static void let_through_unrecorded(struct gate *gate)
{
	uint64_t next = atomic_load_explicit(&gate->next, memory_order_relaxed);
	uint64_t announced = atomic_load_explicit(&gate->announced, memory_order_relaxed);
	uint64_t reserved = atomic_load_explicit(&gate->virtual_index, memory_order_acquire);
	uint64_t end = announced < reserved ? announced : reserved;

	if (end <= next)
		return;
	gate_add(&gate->unrecorded, end - next);
	publish(gate, reserved, end);
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
