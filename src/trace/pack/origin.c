/* Walks through the records of a spool or of packed blocks (see origin.h). */
#include "trace/pack/origin.h"

const struct spool_damage *origin_damages(const struct origin *origin, size_t *ret_kept,
					  uint64_t *ret_total)
{
	return origin->spool ? spool_reader_damages(origin->spool, ret_kept, ret_total)
			     : pack_reader_damages(origin->pack, ret_kept, ret_total);
}

void origin_close(struct origin *origin)
{
	spool_reader_close(origin->spool);
	pack_reader_close(origin->pack);
	*origin = (struct origin){0};
}

void origin_walk_init(struct origin_walk *walk, struct origin *origin, uint64_t types)
{
	*walk = (struct origin_walk){.origin = origin, .types = types};
	origin->place = 0;
	origin->error = 0;
	if (!origin->pack)
		return;
	pack_reader_want(origin->pack, types);
	pack_reader_rewind(origin->pack);
}

static bool next_chunk(struct origin_walk *walk)
{
	struct origin *origin = walk->origin;
	struct spool_stretch stretch;
	uint32_t chunk;

	do {
		if (!spool_reader_next_chunk(origin->spool, &origin->place, &chunk))
			return false;
		spool_reader_stretch(origin->spool, chunk, &stretch);
	} while (!(stretch.types & walk->types));
	walk->at = stretch.records;
	walk->end = walk->at + stretch.bytes;
	walk->order = chunk;
	return true;
}

static bool next_batch(struct origin_walk *walk)
{
	struct origin *origin = walk->origin;
	struct pack_batch batch;
	int result = pack_reader_next(origin->pack, &batch);

	if (result <= 0) {
		origin->error = result;
		return false;
	}
	walk->at = batch.records;
	walk->end = walk->at + batch.bytes;
	walk->tid = batch.tid;
	walk->order = batch.order;
	return true;
}

bool origin_walk_more(struct origin_walk *walk)
{
	bool has_more;

	do {
		has_more = walk->origin->spool ? next_chunk(walk) : next_batch(walk);
	} while (has_more && walk->at == walk->end);
	return has_more;
}
