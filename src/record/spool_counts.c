/* Compares what was found in a spool with what its writers counted: chunks, then records. */
#include "record/spool_reader_state.h"

/* ---- chunks that a ring has reused ---- */

/* The chunk that was being reused when the process was killed; it counts as reused (struct
 * spool_reuse). NULL when there is none, as always in a closed file. */
static const struct spool_reuse *reuse(const struct spool_reader *r)
{
	const struct spool_reuse *intent = &r->header->live.reuse;

	return !r->info.closed && reader_load(&intent->writer) ? intent : NULL;
}

static const struct spool_reuse *reuse_of(const struct spool_reader *r, uint32_t writer)
{
	const struct spool_reuse *intent = reuse(r);

	return intent && reader_load(&intent->writer) == writer + 1ull ? intent : NULL;
}

bool reader_is_reusing(const struct spool_reader *r, uint64_t place)
{
	const struct spool_reuse *intent = reuse(r);

	return intent && intent->place == place;
}

static uint64_t chunks_reused(const struct spool_reader *r, uint32_t writer)
{
	const struct spool_reuse *intent = reuse_of(r, writer);

	return intent ? intent->chunks : reader_load(&r->writers[writer].chunks_reused);
}

static uint64_t dropped_of(const struct spool_reader *r, uint32_t writer, int class, int cause)
{
	const struct spool_reuse *intent = cause == RECORD_DROP_RING ? reuse_of(r, writer) : NULL;

	return intent ? intent->records[class]
		      : reader_load(&r->writers[writer].counts.dropped[class][cause]);
}

/* ---- missing chunks: compares the sequence numbers with each other, then with the writer ---- */

static void check_last_sequence(struct spool_reader *r, uint32_t writer, uint64_t next)
{
	uint64_t counted = reader_load(&r->writers[writer].chunks);
	uint64_t offset = SPOOL_HEADER_BYTES + (uint64_t)writer * SPOOL_WRITER_BYTES;

	if (!r->writers_trusted)
		return;
	if (counted > next)
		reader_add_damage(r, SPOOL_DAMAGE_MISSING, writer, offset, counted - next,
				  "the writer's last chunks are missing");
	/* A killed writer may have labelled a chunk that it had not counted yet
	 * (label_chunk). */
	else if (counted + !r->info.closed < next)
		reader_add_damage(r, SPOOL_DAMAGE_COUNTS, writer, offset, 0,
				  "more chunks than their writer counted");
}

static void check_sequences(struct spool_reader *r)
{
	size_t i = 0;

	for (uint32_t writer = 0; writer < r->writers_used; writer++) {
		uint64_t next = r->writers_trusted ? chunks_reused(r, writer) : 0;

		for (; i < r->chunk_count && r->chunks[i].writer == writer; i++) {
			const struct found_chunk *chunk = &r->chunks[i];

			if (chunk->sequence > next)
				reader_add_damage(r, SPOOL_DAMAGE_MISSING, writer, chunk->offset,
						  chunk->sequence - next,
						  "chunks before this one are missing");
			next = (uint64_t)chunk->sequence + 1;
		}
		check_last_sequence(r, writer, next);
	}
}

/* ---- ledger ---- */

/* Records without a writer were all dropped. So `dropped` stands for `attempted` too: any number of
 * threads may have been killed between the two additions. */
static void add_session_counts(struct spool_ledger *ledger, const struct spool_counts *counts)
{
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		for (int cause = 0; cause < RECORD_DROP_COUNT; cause++) {
			uint64_t dropped = reader_load(&counts->dropped[class][cause]);

			ledger->attempted[class] += dropped;
			ledger->dropped[class][cause] += dropped;
		}
	}
}

static void add_counts(struct spool_reader *r, uint32_t writer)
{
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		r->ledger.attempted[class] +=
			reader_load(&r->writers[writer].counts.attempted[class]);
		for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
			r->ledger.dropped[class][cause] += dropped_of(r, writer, class, cause);
	}
}

/* Number of records that should be in the writer's chunks. Wraps if the counts are wrong. */
static uint64_t not_dropped(const struct spool_reader *r, uint32_t writer, int class)
{
	uint64_t count = reader_load(&r->writers[writer].counts.attempted[class]);

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
		count -= dropped_of(r, writer, class, cause);
	return count;
}

/* Records per writer that a killed writer may have counted but not completed: one record, and the
 * THREAD record before it if it began a chunk. */
#define IN_FLIGHT_MOST 2

/* Compares the writer's counts with the records found. A difference becomes in_flight, or
 * missing. */
static void check_counts(struct spool_reader *r, uint32_t writer)
{
	const uint64_t *found = r->found->of_writer[writer];
	uint64_t short_of[RECORD_CLASS_COUNT];
	uint64_t sum = 0;
	bool in_flight;

	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		short_of[class] = not_dropped(r, writer, class) - found[class];
		/* If more were found than counted, the difference wraps to a huge
		 * number. */
		sum = short_of[class] > UINT32_MAX ? UINT64_MAX : sum + short_of[class];
		if (sum > UINT32_MAX)
			break;
	}
	in_flight = !r->info.closed && sum <= IN_FLIGHT_MOST;
	if (sum && !in_flight && !r->is_damaged[writer] && !r->ledger.unknown)
		reader_add_damage(r, SPOOL_DAMAGE_COUNTS, writer,
				  SPOOL_HEADER_BYTES + (uint64_t)writer * SPOOL_WRITER_BYTES, 0,
				  "records found are not those counted");
	if (sum > UINT32_MAX)
		return;
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		(in_flight ? r->ledger.in_flight : r->ledger.missing)[class] += short_of[class];
}

static void close_ledger(struct spool_reader *r)
{
	r->ledger.chunks_taken = reader_load(&r->header->live.chunks_taken);
	r->ledger.unknown = r->found->unknown;
	for (int writer = 0; writer < SPOOL_WRITER_COUNT; writer++) {
		for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
			r->ledger.found[class] += r->found->of_writer[writer][class];
	}
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++)
		r->ledger.late[class] = reader_load(&r->header->live.late[class]);
	add_session_counts(&r->ledger, &r->header->live.counts);
	for (uint32_t writer = 0; writer < r->writers_used; writer++) {
		add_counts(r, writer);
		if (r->writers_trusted)
			check_counts(r, writer);
	}
}

void reader_check_counts(struct spool_reader *r)
{
	check_sequences(r);
	close_ledger(r);
}
