/* Keeps the steps of CUDA graphs between recordings; see cuda_graph_notes.h. */
#include "capture/cuda/cuda_graph_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "capture/capture_switch.h"
#include "capture/cuda/cuda_graph_lives.h"
#include "capture/owner_lock.h"
#include "capture/paced.h"

/* Steps that are kept without a look at what is gone, and the most that are kept at all (64 MB). */
enum { FEW_STEPS = 4096, MOST_STEPS = 1000000 };

_Atomic uint32_t cuda_notes_told;
_Atomic bool cuda_notes_are_kept;

/* A step could not be kept, because the lock could not be taken. */
static _Atomic bool has_missed;

static struct owner_lock lock;
/* In the order in which they came; under the lock. */
static struct record_cuda_graph *steps;
static size_t room;
static uint32_t count;
static uint32_t count_after_purge; /* what the last purge has left */

/* Returns false if the holder does not go on: it is stopped, or a signal handler has interrupted
 * it. */
static bool take_lock(void)
{
	return owner_lock_take(&lock, timer_start(TIMER_SESSION_CHANGE));
}

/* Call with the lock, as everything that uses the steps. */
static void discard(void)
{
	atomic_store(&has_missed, false);
	free(steps);
	steps = NULL;
	room = 0;
	count = 0;
	count_after_purge = 0;
}

void cuda_notes_keep(void)
{
	atomic_store(&cuda_notes_are_kept, true);
}

bool cuda_notes_end(void)
{
	bool had_any;

	atomic_store(&cuda_notes_are_kept, false);
	if (!take_lock()) {
		/* The next step that is kept discards them. */
		atomic_store(&has_missed, true);
		return true;
	}
	had_any = count > 0;
	discard();
	owner_lock_release(&lock);
	return had_any;
}

void cuda_notes_forget_parent(void)
{
	owner_lock_forget(&lock);
	atomic_store(&cuda_notes_are_kept, false);
	atomic_store(&has_missed, false);
	/* Another thread of the parent may have been changing the array: it is left. */
	steps = NULL;
	room = 0;
	count = 0;
	count_after_purge = 0;
}

uint32_t cuda_notes_count(void)
{
	uint32_t now;

	if (!take_lock())
		return UINT32_MAX;
	now = count;
	owner_lock_release(&lock);
	return now;
}

/* The amount doubles between two purges, so that a step's part of them does not grow. */
static bool make_room(void)
{
	if (count >= FEW_STEPS && count >= 2 * count_after_purge) {
		count = graph_lives_purge(steps, count);
		count_after_purge = count;
	}
	return count < MOST_STEPS &&
	       table_reserve((void **)&steps, &room, (uint64_t)count + 1, sizeof(*steps)) == 0;
}

/* Of graphs of which a part is missing nothing can be said, also when their next part comes. */
static void give_up(void)
{
	atomic_store(&cuda_notes_are_kept, false);
	discard();
}

/* Call without the lock: a note takes others. */
static void say_given_up(void)
{
	switch_note("cuda: graphs that were made outside a recording are not known: there are too "
		    "many, memory was short, or a thread was stopped while it noted one");
}

static bool keep(enum record_cuda_graph_step step, const struct record_cuda_graph *record)
{
	if (!make_room())
		return false;
	steps[count] = *record;
	steps[count].header = (struct record_header){.tag = step};
	steps[count].scope = 0;
	count++;
	return true;
}

static void tell(void)
{
	uint32_t number = session_on_number();
	struct pace pace = {0};

	if (!number || atomic_load(&cuda_notes_told) == number)
		return;
	for (uint32_t i = 0; i < count; i++)
		paced_put(&pace, RECORD_CUDA_GRAPH, steps[i].header.tag, &steps[i],
			  sizeof(steps[i]));
	atomic_store(&cuda_notes_told, number);
}

void cuda_notes_tell_now(void)
{
	bool is_given_up = false;

	/* Without the lock the next launch, or the next tick, tells them. */
	if (!take_lock())
		return;
	if (atomic_load(&cuda_notes_are_kept)) {
		is_given_up = atomic_load(&has_missed);
		if (is_given_up)
			give_up();
		else
			tell();
	}
	owner_lock_release(&lock);
	if (is_given_up)
		say_given_up();
}

static bool write_step(enum record_cuda_graph_step step, const struct record_cuda_graph *record)
{
	struct writer *writer = session_is_on() ? session_writer() : NULL;
	struct record_cuda_graph *written =
		writer_reserve(writer, RECORD_CUDA_GRAPH, sizeof(*written));

	if (!written)
		return false;
	memcpy((char *)written + sizeof(written->header),
	       (const char *)record + sizeof(record->header),
	       sizeof(*written) - sizeof(written->header));
	writer_commit(writer, written, RECORD_CUDA_GRAPH, sizeof(*written), step);
	return true;
}

/* Call with the lock. Returns false if the steps are not whole: they are discarded then. */
static bool tell_and_keep(enum record_cuda_graph_step step, const struct record_cuda_graph *record)
{
	if (!atomic_load(&has_missed)) {
		tell();
		if (keep(step, record))
			return true;
	}
	give_up();
	return false;
}

/* Under the lock a step is either among those that a recording begins with, or written later. */
bool cuda_notes_step(enum record_cuda_graph_step step, const struct record_cuda_graph *record)
{
	bool is_taken = false, is_given_up = false, is_written;

	if (!atomic_load_explicit(&cuda_notes_are_kept, memory_order_relaxed))
		return write_step(step, record);
	if (!take_lock()) {
		atomic_store(&has_missed, true);
		return write_step(step, record);
	}
	if (atomic_load(&cuda_notes_are_kept)) {
		is_taken = tell_and_keep(step, record);
		is_given_up = !is_taken;
	}
	is_written = write_step(step, record);
	owner_lock_release(&lock);
	if (is_given_up)
		say_given_up();
	return is_written || (is_taken && !session_is_on());
}
