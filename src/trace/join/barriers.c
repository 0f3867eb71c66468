/* Rows of barrier packets (see barriers.h). */
#include "trace/join/barriers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/row_table.h"

/* True if the row has a record already that counts. For equal (queue, packet index), the earliest
 * submission counts, whichever is read first. */
static bool is_taken(struct barriers *barriers, uint32_t rank, const struct record_barrier *record)
{
	struct process_load *load = barriers->load;
	bool was_filled = __atomic_load_n(&barriers->is_filled[rank], __ATOMIC_RELAXED);

	__atomic_store_n(&barriers->is_filled[rank], 1, __ATOMIC_RELAXED);
	if (!was_filled || !barriers->has_duplicates)
		return false;
	load->tally.duplicates++;
	return load->trace->barriers[load->first.barriers + rank].submit_ns <= (int64_t)record->ns;
}

int barriers_add(struct barriers *barriers, const struct record_barrier *record)
{
	struct process_load *load = barriers->load;
	uint32_t rank = idset_find(&load->raw.barrier_ids,
				   packet_key(record->header.tag, record->packet_index));
	struct trace_barrier *row = &load->trace->barriers[load->first.barriers + rank];

	if (rank == UINT32_MAX)
		return -ESTALE;
	if (is_taken(barriers, rank, record))
		return 0;
	*row = (struct trace_barrier){
		.process = load->process,
		.queue = load_find_queue(load, record->header.tag),
		.call = load_find_call(load, record->cid),
		.packet_index = record->packet_index,
		.submit_ns = (int64_t)record->ns,
		.completion_signal = record->completion_signal,
		.packet_header = record->packet_header,
	};
	for (int dep = 0; dep < 5; dep++)
		row->dep_signal[dep] = record->dep_signal[dep];
	return 0;
}

bool barriers_are_complete(const struct barriers *barriers)
{
	return !memchr(barriers->is_filled, 0, barriers->load->raw.barrier_ids.count);
}

int barriers_init(struct barriers *barriers, struct process_load *load)
{
	uint32_t count = load->raw.barrier_ids.count;

	*barriers = (struct barriers){
		.load = load,
		.is_filled = table_zeroed(count, sizeof(*barriers->is_filled)),
		.has_duplicates = load->raw.type_counts[RECORD_BARRIER] != count,
	};
	return barriers->is_filled && trace_append(load->trace, barriers, count) ? 0 : -ENOMEM;
}

void barriers_release(struct barriers *barriers)
{
	free(barriers->is_filled);
}
