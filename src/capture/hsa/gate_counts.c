/* The counts of gates; see the header. */
#include "capture/hsa/gate_counts.h"

#include "capture/capture_session.h"
#include "capture/hsa/gate_list.h"

/* The counts of gates from before they were used again. */
static _Atomic uint64_t past_without_context;
static _Atomic uint64_t packets_cut;	 /* of this recording */
static _Atomic uint64_t past_unrecorded; /* of this recording */

void gate_counts_prepare(struct gate *gate)
{
	atomic_fetch_add_explicit(&past_unrecorded, atomic_exchange(&gate->unrecorded, 0),
				  memory_order_relaxed);
	atomic_store_explicit(&gate->dispatches, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->barriers, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->others, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->handed_on, 0, memory_order_relaxed);
	atomic_store_explicit(&gate->left, 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&past_without_context, atomic_exchange(&gate->without_context, 0),
				  memory_order_relaxed);
}

void gate_counts_begin(void)
{
	atomic_store_explicit(&packets_cut, 0, memory_order_relaxed);
	atomic_store_explicit(&past_unrecorded, 0, memory_order_relaxed);
}

uint64_t gate_index_read(const struct gate *gate)
{
	uint64_t next = gate_get(&gate->next), first = gate_get(&gate->traced_first);
	uint64_t read, written;

	if (gate->is_chained)
		return next;
	written = __atomic_load_n(&gate->queue->write_dispatch_id, __ATOMIC_ACQUIRE);
	/* Another tool moves the index before it rings. So does a gate that lets everything pass.
	 * The packets behind `next` are then not counted yet. */
	if (written > next && (atomic_load_explicit(&gate->is_foreign, memory_order_relaxed) ||
			       atomic_load_explicit(&gate->is_taken_over, memory_order_relaxed)))
		written = next;
	/* Less than FIRST: packets that were reserved before the recording have not passed yet. */
	if (gate_has_index(gate))
		return written > first ? written : first;
	read = __atomic_load_n(&gate->queue->read_dispatch_id, __ATOMIC_ACQUIRE);
	if (next > written)
		return written;
	return next < read ? read : next;
}

/* The same for any state of the gate. While the gate closes, its queue may be destroyed at any
 * moment and must not be read. */
static uint64_t index_passed(const struct gate *gate)
{
	bool is_closing = atomic_load_explicit(&gate->state, memory_order_acquire) == GATE_CLOSING;

	return is_closing ? gate_get(&gate->closing_index) : gate_index_read(gate);
}

void gate_write_count(struct gate *gate, bool destroyed)
{
	struct record_queue_count count = {
		.ns = session_now_ns(),
		.write_index = index_passed(gate) - gate_get(&gate->traced_first),
		.dispatches = gate_get(&gate->dispatches),
		.barriers = gate_get(&gate->barriers),
		.others = gate_get(&gate->others),
		.destroyed = destroyed,
	};

	writer_put(session_writer(), RECORD_QUEUE_COUNT, gate->queue_id, &count, sizeof(count));
}

void gate_write_taken(struct gate *gate)
{
	struct record_queue_taken record = {.ns = session_now_ns()};

	if (!gate_has_index(gate))
		return;
	record.taken = __atomic_load_n(&gate->queue->read_dispatch_id, __ATOMIC_ACQUIRE);
	if (gate_get(&gate->recorded_taken) == record.taken + 1)
		return;
	atomic_store_explicit(&gate->recorded_taken, record.taken + 1, memory_order_relaxed);
	writer_put(session_writer(), RECORD_QUEUE_TAKEN, gate->queue_id, &record, sizeof(record));
}

void gate_write_queue(struct gate *gate)
{
	uint32_t session = session_current_number();
	struct record_queue record = {.ns = session_now_ns(),
				      .handle = (uint64_t)(uintptr_t)gate->queue,
				      .agent = gate->agent.handle,
				      .size = gate->queue->hsa_queue.size,
				      .mode = gate->mode};

	if (atomic_exchange_explicit(&gate->announced_in, session, memory_order_relaxed) != session)
		writer_put(session_writer(), RECORD_QUEUE, gate->queue_id, &record, sizeof(record));
}

void gate_count_cut(const struct gate *gate)
{
	uint64_t next = gate_get(&gate->next), first = gate_get(&gate->traced_first);
	uint64_t reserved = gate_get(&gate->virtual_index);
	uint64_t written = __atomic_load_n(&gate->queue->write_dispatch_id, __ATOMIC_ACQUIRE);

	if (!gate_has_index(gate))
		reserved = gate->is_chained ? next : written;
	if (gate_has_index(gate) && reserved < written)
		reserved = written;
	if (next < first)
		next = first;
	if (reserved > next)
		atomic_fetch_add_explicit(&packets_cut, reserved - next, memory_order_relaxed);
}

uint64_t gates_packets_cut(void)
{
	return gate_get(&packets_cut);
}

uint64_t gates_packets_unrecorded(void)
{
	uint64_t count = gate_get(&past_unrecorded);

	for (struct gate *gate = gate_newest(); gate; gate = gate->older)
		count += gate_get(&gate->unrecorded);
	return count;
}

uint64_t gate_dispatches_without_context(void)
{
	uint64_t count = gate_get(&past_without_context);

	for (struct gate *gate = gate_newest(); gate; gate = gate->older)
		count += gate_get(&gate->without_context);
	return count;
}

uint64_t gate_reservations_lost(void)
{
	uint64_t count = 0;

	for (struct gate *gate = gate_newest(); gate; gate = gate->older)
		count += gate_get(&gate->reservations.lost);
	return count;
}
