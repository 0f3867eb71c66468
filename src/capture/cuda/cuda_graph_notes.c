/* Keeps the steps of CUDA graphs between recordings; see cuda_graph_notes.h. */
#include "capture/cuda/cuda_graph_notes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "capture/capture_switch.h"
#include "capture/cuda/cuda_graph_lives.h"
#include "capture/paced.h"

/* Steps that are kept without a look at what is gone, and the most that are kept at all (64 MB). */
enum { FEW_STEPS = 4096, MOST_STEPS = 1000000 };

_Atomic uint32_t cuda_notes_told;
_Atomic bool cuda_notes_are_kept;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* In the order in which they came; under the lock. */
static struct record_cuda_graph *steps;
static size_t room;
static uint32_t count;
static uint32_t count_after_purge; /* what the last purge has left */

static void discard(void)
{
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

	pthread_mutex_lock(&lock);
	had_any = count > 0;
	atomic_store(&cuda_notes_are_kept, false);
	discard();
	pthread_mutex_unlock(&lock);
	return had_any;
}

void cuda_notes_forget_parent(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	atomic_store(&cuda_notes_are_kept, false);
	/* Another thread of the parent may have been changing the array: it is left. */
	steps = NULL;
	room = 0;
	count = 0;
	count_after_purge = 0;
}

uint32_t cuda_notes_count(void)
{
	uint32_t now;

	pthread_mutex_lock(&lock);
	now = count;
	pthread_mutex_unlock(&lock);
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

/* Of graphs of which a part is missing nothing can be said. */
static void give_up(void)
{
	discard();
	switch_note("cuda: graphs that were made outside a recording are not known: there are too "
		    "many, or memory was short");
}

static bool keep(enum record_cuda_graph_step step, const struct record_cuda_graph *record)
{
	if (!make_room()) {
		give_up();
		return false;
	}
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
	pthread_mutex_lock(&lock);
	if (atomic_load(&cuda_notes_are_kept))
		tell();
	pthread_mutex_unlock(&lock);
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

/* Under the lock a step is either among those that a recording begins with, or written later. */
bool cuda_notes_step(enum record_cuda_graph_step step, const struct record_cuda_graph *record)
{
	bool is_taken = false, is_written;

	if (!atomic_load_explicit(&cuda_notes_are_kept, memory_order_relaxed))
		return write_step(step, record);
	pthread_mutex_lock(&lock);
	if (atomic_load(&cuda_notes_are_kept)) {
		tell();
		is_taken = keep(step, record);
	}
	is_written = write_step(step, record);
	pthread_mutex_unlock(&lock);
	return is_written || (is_taken && !session_is_on());
}
