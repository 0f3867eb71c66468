/* Walks through the records of a spool, of packed blocks or of a set (see origin.h). */
#include "trace/pack/origin.h"

#include <errno.h>
#include <stdlib.h>

#include "base/workers.h"

const struct spool_ledger *origin_ledger(const struct origin *origin)
{
	static const struct spool_ledger nothing;

	if (origin->set)
		return &nothing;
	return origin->spool ? spool_reader_ledger(origin->spool)
			     : pack_reader_ledger(origin->pack);
}

const struct spool_damage *origin_damages(const struct origin *origin, size_t *ret_kept,
					  uint64_t *ret_total)
{
	if (origin->set) {
		*ret_kept = 0;
		*ret_total = 0;
		return NULL;
	}
	return origin->spool ? spool_reader_damages(origin->spool, ret_kept, ret_total)
			     : pack_reader_damages(origin->pack, ret_kept, ret_total);
}

void origin_close(struct origin *origin)
{
	spool_reader_close(origin->spool);
	pack_reader_close(origin->pack);
	*origin = (struct origin){0};
}

/* A call of origin_share. */
struct share {
	struct origin *origin;
	uint64_t types;
	origin_part *read;
	void *context;
	const char **faults; /* by packed block: why it is damaged, or NULL */
};

static bool next_run(struct origin_walk *walk)
{
	const struct record_set *set = walk->origin->set;

	while (walk->rest.first != walk->rest.end) {
		const struct record_run *run = &set->runs[walk->rest.first];

		walk->order = walk->rest.first++;
		walk->at = run->records;
		walk->end = walk->at + run->bytes;
		walk->tid = run->tid;
		if (run->bytes)
			return true;
	}
	return false;
}

/* Makes STRETCH what the walk reads. False: it holds no record that is asked for. */
static bool enter(struct origin_walk *walk, const struct spool_stretch *stretch)
{
	if (!(stretch->types & walk->types) || stretch->bytes == 0)
		return false;
	walk->at = stretch->records;
	walk->end = walk->at + stretch->bytes;
	walk->order = stretch->order;
	return true;
}

static bool next_unchecked(struct origin_walk *walk)
{
	struct spool_stretch stretch;

	while (spool_part_next(walk->unchecked, &stretch)) {
		if (enter(walk, &stretch))
			return true;
	}
	return false;
}

bool origin_walk_more(struct origin_walk *walk)
{
	const struct spool_reader *spool = walk->origin->spool;
	struct spool_stretch stretch;

	if (walk->origin->set)
		return next_run(walk);
	if (walk->unchecked)
		return next_unchecked(walk);
	while (walk->rest.first != walk->rest.end) {
		uint32_t chunk = spool_reader_chunk_in_file(spool, walk->rest.first++);

		spool_reader_stretch(spool, chunk, &stretch);
		if (enter(walk, &stretch))
			return true;
	}
	return false;
}

static bool has_types(const struct spool_reader *spool, struct spool_step step, uint64_t types)
{
	struct spool_stretch stretch;
	uint64_t found = 0;

	for (uint32_t place = step.first; place < step.end; place++) {
		spool_reader_stretch(spool, spool_reader_chunk_in_file(spool, place), &stretch);
		found |= stretch.types;
	}
	return found & types;
}

static int read_step(void *share_of_origin, unsigned worker, uint32_t number)
{
	const struct share *share = share_of_origin;
	const struct spool_reader *spool = share->origin->spool;
	struct origin_walk walk = {.origin = share->origin, .types = share->types};
	int err;

	if (!has_types(spool, spool_reader_step(spool, number), share->types))
		return share->read(share->context, worker, number, &walk);
	walk.rest = spool_reader_step_begin(spool, number);
	err = share->read(share->context, worker, number, &walk);
	spool_reader_step_end(spool, number);
	return err;
}

static int read_unchecked(void *share_of_origin, unsigned worker, uint32_t number,
			  struct spool_part *part)
{
	const struct share *share = share_of_origin;
	struct origin_walk walk = {
		.origin = share->origin,
		.types = share->types,
		.unchecked = part,
	};

	return share->read(share->context, worker, number, &walk);
}

static int read_block(void *share_of_origin, unsigned worker, uint32_t number)
{
	const struct share *share = share_of_origin;
	struct origin_walk walk = {.origin = share->origin, .types = share->types};
	struct pack_batch batch;
	int result = pack_reader_block(share->origin->pack, worker, number, &batch,
				       &share->faults[number]);

	if (result < 0)
		return result;
	if (result > 0) {
		walk.at = batch.records;
		walk.end = walk.at + batch.bytes;
		walk.tid = batch.tid;
		walk.order = batch.order;
	}
	return share->read(share->context, worker, number, &walk);
}

static int share_blocks(struct share *share, unsigned threads)
{
	struct pack_reader *pack = share->origin->pack;
	uint32_t count = pack_reader_block_count(pack);
	int err;

	share->faults = calloc((size_t)count + 1, sizeof(*share->faults));
	if (!share->faults)
		return -ENOMEM;
	pack_reader_want(pack, share->types);
	err = workers_run(threads, count, read_block, share);
	for (uint32_t i = 0; i < count && err == 0; i++) {
		if (share->faults[i])
			pack_reader_lose(pack, i, share->faults[i]);
	}
	free(share->faults);
	return err;
}

/* A set is small, so it is one part. */
static int read_set(void *share_of_origin, unsigned worker, uint32_t number)
{
	const struct share *share = share_of_origin;
	struct origin_walk walk = {.origin = share->origin, .types = share->types};

	walk.rest.end = share->origin->set->run_count;
	return share->read(share->context, worker, number, &walk);
}

uint32_t origin_part_count(const struct origin *origin)
{
	if (origin->set)
		return 1;
	return origin->spool ? spool_reader_step_count(origin->spool)
			     : pack_reader_block_count(origin->pack);
}

int origin_share(struct origin *origin, uint64_t types, unsigned threads, origin_part *read,
		 void *context)
{
	struct share share = {.origin = origin, .types = types, .read = read, .context = context};

	if (origin->set)
		return workers_run(threads, 1, read_set, &share);
	if (origin->pack)
		return share_blocks(&share, threads);
	if (!spool_reader_is_checked(origin->spool))
		return spool_reader_check(origin->spool, read_unchecked, &share);
	return workers_run(threads, origin_part_count(origin), read_step, &share);
}
