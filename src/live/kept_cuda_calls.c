/* A ring of the newest calls, found by correlation id: see kept_cuda_calls.h. */
#include "live/kept_cuda_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/table.h"

#define DEEPEST 16 /* of calls inside calls; damage may make a circle */

static uint64_t hash_of(uint64_t cid)
{
	return hash_mix(cid, 0);
}

uint64_t cuda_calls_cid(const struct record_header *record)
{
	const void *at = record;

	switch (record->type) {
	case RECORD_API:
		return ((const struct record_api *)at)->cid;
	case RECORD_CUDA_INNER:
		return ((const struct record_cuda_inner *)at)->cid;
	case RECORD_GRAPH_LAUNCH:
		return ((const struct record_graph_launch *)at)->cid;
	case RECORD_CUDA_KERNEL:
		return ((const struct record_cuda_kernel *)at)->cid;
	case RECORD_CUDA_COPY:
		return ((const struct record_cuda_copy *)at)->cid;
	default:
		return 0;
	}
}

/* The cid of the call around the one that RECORD tells of, 0: none. */
static uint64_t outer_cid(const struct record_header *record)
{
	const void *at = record;

	switch (record->type) {
	case RECORD_API:
		return ((const struct record_api *)at)->parent;
	case RECORD_CUDA_INNER:
		return ((const struct record_cuda_inner *)at)->outer;
	default:
		return 0;
	}
}

static void forget(struct cuda_calls *calls, struct definitions *definitions, uint32_t number)
{
	struct cuda_call *row = &calls->rows[number];

	if (!row->record)
		return;
	hash_map_remove(&calls->by_cid, hash_of(row->cid), number);
	definitions_unuse(definitions, row->record);
	calls->bytes -= row->record->words * 8u;
	free(row->record);
	row->record = NULL;
}

/* The place for the next record, which is empty. UINT32_MAX: out of memory. */
static uint32_t next_place(struct cuda_calls *calls, struct definitions *definitions)
{
	uint32_t number = (uint32_t)(calls->count % CUDA_CALLS_MOST);

	if (hash_map_reserve(&calls->by_cid) < 0 ||
	    (number == calls->rows_count &&
	     !table_add((void **)&calls->rows, &calls->rows_count, sizeof(*calls->rows))))
		return UINT32_MAX;
	forget(calls, definitions, number);
	return number;
}

int cuda_calls_add(struct cuda_calls *calls, struct definitions *definitions,
		   const struct record_header *record, uint32_t tid)
{
	uint32_t number = next_place(calls, definitions);
	size_t bytes = record->words * 8u;
	struct hash_probe probe;
	struct cuda_call *row;

	if (number == UINT32_MAX || definitions_use(definitions, record) < 0)
		return -ENOMEM;
	row = &calls->rows[number];
	row->record = malloc(bytes);
	if (!row->record)
		return -ENOMEM;
	memcpy(row->record, record, bytes);
	row->cid = cuda_calls_cid(record);
	row->tid = tid;
	row->window = 0;
	probe = hash_map_probe(&calls->by_cid, hash_of(row->cid));
	while (hash_map_next(&calls->by_cid, &probe))
		;
	hash_map_put(&calls->by_cid, &probe, number);
	calls->bytes += bytes;
	calls->count++;
	return 0;
}

const struct record_graph_launch *cuda_calls_find_launch(const struct cuda_calls *calls,
							 uint64_t cid)
{
	for (int depth = 0; cid && calls->count && depth < DEEPEST; depth++) {
		struct hash_probe probe = hash_map_probe(&calls->by_cid, hash_of(cid));
		uint64_t outer = 0;

		while (hash_map_next(&calls->by_cid, &probe)) {
			const struct cuda_call *row = &calls->rows[probe.row];

			if (row->cid == cid && row->record->type == RECORD_GRAPH_LAUNCH)
				return (const void *)row->record;
			if (row->cid == cid && row->record->type == RECORD_CUDA_INNER)
				outer = outer_cid(row->record);
		}
		cid = outer;
	}
	return NULL;
}

/* Selects the records of CID. Returns the cid of the call around it, 0: none, or it is selected
 * already. */
static uint64_t select_one(struct cuda_calls *calls, struct definitions *definitions, uint64_t cid)
{
	struct hash_probe probe = hash_map_probe(&calls->by_cid, hash_of(cid));
	uint64_t outer = 0;

	while (hash_map_next(&calls->by_cid, &probe)) {
		struct cuda_call *row = &calls->rows[probe.row];

		if (row->cid != cid || row->window == definitions->window)
			continue;
		row->window = definitions->window;
		definitions_select(definitions, row->record, row->tid);
		if (outer_cid(row->record))
			outer = outer_cid(row->record);
	}
	return outer;
}

void cuda_calls_select(struct cuda_calls *calls, struct definitions *definitions, uint64_t cid)
{
	if (!calls->count)
		return;
	for (int depth = 0; cid && depth < DEEPEST; depth++)
		cid = select_one(calls, definitions, cid);
}

int cuda_calls_selected(const struct cuda_calls *calls, uint32_t window,
			int (*take)(void *context, const struct record_header *record,
				    uint32_t tid),
			void *context)
{
	int err = 0;

	for (uint32_t i = 0; i < calls->rows_count && err == 0; i++) {
		const struct cuda_call *row = &calls->rows[i];

		if (row->record && row->window == window)
			err = take(context, row->record, row->tid);
	}
	return err;
}

void cuda_calls_release(struct cuda_calls *calls)
{
	for (uint32_t i = 0; i < calls->rows_count; i++)
		free(calls->rows[i].record);
	free(calls->rows);
	hash_map_release(&calls->by_cid);
	*calls = (struct cuda_calls){0};
}
