/* Counts that one thread makes for a call of another one (frame.h). While a thread holds the gate
 * of a queue, dagtap's monitor for example, it passes the packets of the threads that ring
 * meanwhile. These wait until it has done so, and take the counts when their calls return. */
#include "capture/frame.h"

#include <stddef.h>

/* Counts are kept in one word for each of the last calls, so that they are changed and taken
 * whole: from the top, the tag of the call, and its dispatches, barriers and packets without a
 * record. A call whose packets pass after its return leaves its counts behind; another call takes
 * the cell. */
#define CELLS	     256u
#define TAG_SHIFT    36
#define CID_BITS     24 /* of the tag, behind those that choose the cell; the rest: the session's */
#define SESSION_BITS 4

static const struct field {
	uint64_t shift, most;
} fields[] = {
	[FRAME_DISPATCH] = {22, (1u << 14) - 1},
	[FRAME_BARRIER] = {10, (1u << 12) - 1},
	[FRAME_UNRECORDED] = {0, (1u << 10) - 1},
};

static _Atomic uint64_t cells[CELLS];

static _Atomic uint64_t *cell_of(uint64_t cid)
{
	return &cells[cid % CELLS];
}

static uint64_t tag_of(uint64_t cid, uint32_t session)
{
	uint64_t number = cid / CELLS & ((1u << CID_BITS) - 1);

	return (session & ((1u << SESSION_BITS) - 1)) << CID_BITS | number;
}

static uint32_t count_in(uint64_t word, enum frame_activity kind)
{
	return (uint32_t)(word >> fields[kind].shift & fields[kind].most);
}

void frame_count_for_another(uint64_t cid, enum frame_activity kind)
{
	uint64_t tag = tag_of(cid, session_current_number()), word, more;
	_Atomic uint64_t *cell = cell_of(cid);

	word = atomic_load_explicit(cell, memory_order_relaxed);
	do {
		more = word >> TAG_SHIFT == tag ? word : tag << TAG_SHIFT;
		if (count_in(more, kind) == fields[kind].most)
			return; /* stays unknown */
		more += 1ull << fields[kind].shift;
	} while (!atomic_compare_exchange_weak_explicit(cell, &word, more, memory_order_relaxed,
							memory_order_relaxed));
}

void frame_take_counted(struct frame *frame)
{
	_Atomic uint64_t *cell = cell_of(frame->cid);
	uint32_t dispatches, barriers, unrecorded;
	uint64_t word;

	if (__builtin_expect(!frame_unknown(frame), 1))
		return;
	word = atomic_load_explicit(cell, memory_order_relaxed);
	if (word >> TAG_SHIFT != tag_of(frame->cid, frame->session) ||
	    !atomic_compare_exchange_strong_explicit(cell, &word, 0, memory_order_relaxed,
						     memory_order_relaxed))
		return;
	dispatches = count_in(word, FRAME_DISPATCH);
	barriers = count_in(word, FRAME_BARRIER);
	unrecorded = count_in(word, FRAME_UNRECORDED);
	if (dispatches + barriers + unrecorded > frame_unknown(frame))
		return; /* of a call with a number that has the same tag */
	frame->dispatches += dispatches;
	frame->others += barriers + unrecorded;
	frame->unrecorded += unrecorded;
}

void frame_counts_forget_parent(void)
{
	for (size_t i = 0; i < CELLS; i++)
		atomic_store_explicit(&cells[i], 0, memory_order_relaxed);
}
