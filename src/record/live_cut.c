/* Reads the counts of a file that is still written, and decides which records belong to the cut. */
#include "record/live_cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "record/writer.h"

#define HEAD_BYTES ((size_t)SPOOL_CHUNK_OFFSET)

/* How often to look while the housekeeper reuses a chunk, or while a label changes. Both take
 * microseconds, unless the process is stopped or was killed meanwhile. */
#define LETTING_GO_LOOKS 100000
#define LABEL_LOOKS	 1000
#define COPY_STEP	 4096 /* a page, or less */

/* The order in which classes are cut: effects before causes. META comes twice. First for
 * QUEUE_COUNT, WITNESS, ANCHOR and END, which count the records of other classes; last for the
 * other META records, to which records of other classes refer. An API record is written when its
 * call returns, after its effects. */
static const enum record_class order[] = {
	RECORD_CLASS_META,    RECORD_CLASS_DONE,  RECORD_CLASS_API,
	RECORD_CLASS_BARRIER, RECORD_CLASS_COPY,  RECORD_CLASS_DISPATCH,
	RECORD_CLASS_SCOPE,   RECORD_CLASS_GRAPH, RECORD_CLASS_META,
};
_Static_assert(sizeof(order) / sizeof(*order) == RECORD_CLASS_COUNT + 1, "every class");

static uint64_t load(const _Atomic uint64_t *field)
{
	return atomic_load_explicit(field, memory_order_acquire);
}

/* Whether other records refer to records of this META type. */
static bool is_definition(enum record_type type)
{
	return type != RECORD_QUEUE_COUNT && type != RECORD_WITNESS && type != RECORD_ANCHOR &&
	       type != RECORD_END;
}

/* Copies the writer's dropped counts, and returns their sum without RING: live_cut_settle_ring
 * subtracts the chunks that the ring has reused. */
static uint64_t copy_dropped(struct live_cut *cut, uint64_t writer, enum record_class class)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < RECORD_DROP_COUNT; cause++) {
		uint64_t dropped = load(&cut->writers_now[writer].counts.dropped[class][cause]);

		atomic_store_explicit(&cut->writers[writer].counts.dropped[class][cause], dropped,
				      memory_order_relaxed);
		sum += cause == RECORD_DROP_RING ? 0 : dropped;
	}
	return sum;
}

/* Cuts one class in all writers. Reads `attempted` before `dropped`: a writer adds a dropped record
 * first to `attempted`. */
static void cut_class(struct live_cut *cut, enum record_class class)
{
	uint64_t used = load(&cut->now->live.writers_used);

	for (uint64_t writer = 0; writer < used && writer < SPOOL_WRITER_COUNT; writer++) {
		uint64_t attempted = load(&cut->writers_now[writer].counts.attempted[class]);
		uint64_t dropped = copy_dropped(cut, writer, class);

		cut->limits[writer].attempted[class] = attempted;
		cut->limits[writer].kept[class] = attempted > dropped ? attempted - dropped : 0;
	}
	atomic_store_explicit(&cut->header.live.writers_used, used, memory_order_relaxed);
}

/* Cuts all classes in their order. The first cut of META goes to kept[META], the last to
 * definitions. */
static void cut_classes(struct live_cut *cut)
{
	uint64_t *effects = calloc(SPOOL_WRITER_COUNT, sizeof(*effects));

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		cut_class(cut, order[i]);
		for (uint32_t writer = 0; effects && i == 0 && writer < SPOOL_WRITER_COUNT;
		     writer++)
			effects[writer] = cut->limits[writer].kept[RECORD_CLASS_META];
	}
	for (uint32_t writer = 0; writer < SPOOL_WRITER_COUNT; writer++) {
		struct live_writer *limits = &cut->limits[writer];

		limits->definitions = limits->kept[RECORD_CLASS_META];
		limits->kept[RECORD_CLASS_META] = effects ? effects[writer] : 0;
	}
	free(effects);
}

/* A writer takes a chunk, labels it, counts it, and only then stores records in it. These counts
 * are read after the counts of records, so they include every chunk with a record of the cut. */
static void cut_chunks(struct live_cut *cut)
{
	for (uint32_t writer = 0; writer < SPOOL_WRITER_COUNT; writer++) {
		atomic_store_explicit(&cut->writers[writer].chunks,
				      load(&cut->writers_now[writer].chunks), memory_order_relaxed);
		atomic_store_explicit(&cut->writers[writer].chunks_reused,
				      load(&cut->writers_now[writer].chunks_reused),
				      memory_order_relaxed);
	}
	atomic_store_explicit(&cut->header.live.chunks_taken, load(&cut->now->live.chunks_taken),
			      memory_order_relaxed);
	atomic_store_explicit(&cut->header.live.places, load(&cut->now->live.places),
			      memory_order_relaxed);
}

static bool is_open(const struct spool_header *header)
{
	return !memcmp(header->magic, SPOOL_MAGIC, sizeof(header->magic)) &&
	       header->version == SPOOL_VERSION &&
	       atomic_load_explicit(&header->live.state, memory_order_acquire) == SPOOL_OPEN;
}

int live_cut_take(int fd, struct live_cut **ret_cut)
{
	struct live_cut *cut;
	struct stat status;
	void *head;

	*ret_cut = NULL;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size < (off_t)HEAD_BYTES)
		return 0;
	head = mmap(NULL, HEAD_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (head == MAP_FAILED)
		return -errno;
	cut = is_open(head) ? calloc(1, sizeof(*cut)) : NULL;
	if (!cut) {
		int err = is_open(head) ? -ENOMEM : 0;

		munmap(head, HEAD_BYTES);
		return err;
	}
	cut->now = head;
	cut->writers_now = (const void *)((const char *)head + SPOOL_HEADER_BYTES);
	memcpy(&cut->header, cut->now, sizeof(cut->header));
	atomic_store_explicit(&cut->header.live.state, SPOOL_OPEN, memory_order_relaxed);
	cut_classes(cut);
	cut_chunks(cut);
	*ret_cut = cut;
	return 0;
}

void live_cut_release(struct live_cut *cut)
{
	if (!cut)
		return;
	munmap((void *)cut->now, HEAD_BYTES);
	free(cut);
}

/* ---- chunks that a ring reuses meanwhile ---- */

/* Copies the label. Returns false if its writer or the housekeeper changed it meanwhile. */
static bool read_label(struct spool_chunk *chunk, struct spool_chunk *ret_label)
{
	struct spool_chunk *label = ret_label;

	label->state = atomic_load_explicit(&chunk->state, memory_order_acquire);
	label->magic = atomic_load_explicit(&chunk->magic, memory_order_acquire);
	memcpy(&label->index, &chunk->index,
	       offsetof(struct spool_chunk, state) - offsetof(struct spool_chunk, index));
	label->crc = chunk->crc;
	atomic_thread_fence(memory_order_acquire);
	return label->magic == atomic_load_explicit(&chunk->magic, memory_order_relaxed) &&
	       label->state == atomic_load_explicit(&chunk->state, memory_order_relaxed);
}

void live_cut_copy_chunk(struct spool_chunk *chunk)
{
	_Atomic unsigned char *bytes = (_Atomic unsigned char *)chunk;
	struct spool_chunk first, second;
	bool is_whole = false;

	for (int look = 0; look < LABEL_LOOKS && !is_whole; look++)
		is_whole = read_label(chunk, &first) && read_label(chunk, &second) &&
			   !memcmp(&first, &second, SPOOL_CHUNK_HEAD_BYTES);
	for (size_t at = 0; at < SPOOL_CHUNK_BYTES; at += COPY_STEP)
		atomic_fetch_or_explicit(bytes + at, 0, memory_order_relaxed);
	memcpy(chunk, &first, SPOOL_CHUNK_HEAD_BYTES);
	if (!is_whole)
		atomic_store_explicit(&chunk->magic, 0, memory_order_relaxed);
}

/* Copies the writer's RING counts and its number of reused chunks, and removes these records from
 * the cut. Reads the counts while no chunk of the writer is being reused. If one stays half reused
 * (the process is stopped or was killed), takes the final values from struct spool_reuse.
 * Pairs with the releases in ring_reuse. */
static void settle_writer(struct live_cut *cut, uint32_t writer)
{
	const struct spool_reuse *intent = &cut->now->live.reuse;
	const struct spool_writer *now = &cut->writers_now[writer];
	uint64_t records[SPOOL_CLASS_COUNT], chunks_reused;
	bool is_between;

	for (int look = 0; look < LETTING_GO_LOOKS; look++) {
		is_between = load(&intent->writer) != writer + 1ull;
		chunks_reused = is_between ? load(&now->chunks_reused) : intent->chunks;
		for (int class = 0; class < SPOOL_CLASS_COUNT; class ++)
			records[class] =
				is_between ? load(&now->counts.dropped[class][RECORD_DROP_RING])
					   : intent->records[class];
		atomic_thread_fence(memory_order_acquire);
		if (is_between && load(&intent->writer) != writer + 1ull &&
		    load(&now->chunks_reused) == chunks_reused)
			break;
	}
	atomic_store_explicit(&cut->writers[writer].chunks_reused, chunks_reused,
			      memory_order_relaxed);
	/* The ring may by now have reused all chunks of the cut, and some that came after
	 * it. */
	if (load(&cut->writers[writer].chunks) < chunks_reused)
		atomic_store_explicit(&cut->writers[writer].chunks, chunks_reused,
				      memory_order_relaxed);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		struct live_writer *limits = &cut->limits[writer];

		atomic_store_explicit(&cut->writers[writer].counts.dropped[class][RECORD_DROP_RING],
				      records[class], memory_order_relaxed);
		limits->kept[class] -=
			records[class] < limits->kept[class] ? records[class] : limits->kept[class];
	}
}

void live_cut_settle_ring(struct live_cut *cut)
{
	uint64_t used = load(&cut->header.live.writers_used);

	for (uint32_t writer = 0; writer < used && writer < SPOOL_WRITER_COUNT; writer++) {
		struct live_writer *limits = &cut->limits[writer];
		uint64_t gone;

		settle_writer(cut, writer);
		gone = load(
			&cut->writers[writer].counts.dropped[RECORD_CLASS_META][RECORD_DROP_RING]);
		limits->definitions -= gone < limits->definitions ? gone : limits->definitions;
	}
	atomic_store_explicit(&cut->header.live.reuse.writer, 0, memory_order_relaxed);
}

/* ---- which records ---- */

bool live_cut_has_chunk(const struct live_cut *cut, uint32_t writer, uint32_t sequence)
{
	/* A writer above the cut's writers belongs to a new thread; above the file's, it is
	 * damage. */
	if (writer >= load(&cut->header.live.writers_used))
		return writer >= load(&cut->now->live.writers_used);
	if (cut->header.ring_bytes && sequence < load(&cut->writers[writer].chunks_reused))
		return false;
	return sequence < load(&cut->writers[writer].chunks) ||
	       load(&cut->writers_now[writer].chunks) == load(&cut->writers[writer].chunks);
}

/* How many first records of TYPE's class are in the cut, as far as records of TYPE go. */
static uint64_t limit_of(const struct live_writer *limits, enum record_type type)
{
	enum record_class class = record_class_of(type);

	return class == RECORD_CLASS_META && is_definition(type) ? limits->definitions
								 : limits->kept[class];
}

/* Number of records of CLASS that the writer had counted at the cut. */
static uint64_t counted_of(const struct live_writer *limits, enum record_class class)
{
	return class == RECORD_CLASS_META ? limits->definitions : limits->kept[class];
}

bool live_cut_takes(struct live_cut *cut, uint32_t writer, enum record_type type)
{
	struct live_writer *limits = &cut->limits[writer];
	enum record_class class = record_class_of(type);
	uint64_t place = limits->walked[class]++;

	if (place < limit_of(limits, type))
		return true;
	if (place < counted_of(limits, class))
		limits->within[class]++;
	else if (load(&cut->writers_now[writer].counts.attempted[class]) ==
		 limits->attempted[class])
		return true; /* the writer has added none since: no count includes it */
	return false;
}

void live_cut_finish(struct live_cut *cut)
{
	for (uint32_t writer = 0; writer < SPOOL_WRITER_COUNT; writer++) {
		const struct live_writer *limits = &cut->limits[writer];
		struct spool_counts *counts = &cut->writers[writer].counts;

		for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
			uint64_t attempted = counted_of(limits, class) - limits->within[class];

			for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
				attempted += load(&counts->dropped[class][cause]);
			atomic_store_explicit(&counts->attempted[class], attempted,
					      memory_order_relaxed);
		}
	}
}
