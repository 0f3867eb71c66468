/* A consistent cut through a spool that its process still writes.
 *
 * Each lane's counts say which of its records are in the cut: of each class so many of the first
 * ones. The classes are counted one after the other, over all lanes, effects before what they are
 * effects of: a completion is not in the cut without its dispatch, nor a dispatch without its
 * kernel. What is written later is passed over. The process is not held up, and the file is read
 * once, up to where it reached when the counts were taken.
 *
 * A process that was killed has the same kind of file. There nothing moves, and nothing is passed
 * over: a record that no count knows is damage then, as it is in a closed file.
 *
 * One thread at a time; for reader.c alone. */
#ifndef DAGTAP_RECORD_LIVE_CUT_H
#define DAGTAP_RECORD_LIVE_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "record/spool.h"

/* Of one lane, by class. */
struct live_lane {
	uint64_t attempted[RECORD_CLASS_COUNT]; /* at the cut, as the file had it */
	uint64_t kept[RECORD_CLASS_COUNT];	/* so many of the first records are in the cut */
	uint64_t definitions; /* META records that others refer to: cut last, the others first */
	uint64_t walked[RECORD_CLASS_COUNT]; /* records that live_cut_takes has seen */
	uint64_t within[RECORD_CLASS_COUNT]; /* of these: passed over, and counted at the cut */
};

struct live_cut {
	const struct spool_header *now; /* mapped: what the process writes */
	const struct spool_lane *lanes_now;

	/* At the cut. The counts of lanes are those of the cut after live_cut_finish. */
	struct spool_header header;
	struct spool_lane lanes[SPOOL_LANE_COUNT];
	struct live_lane limits[SPOOL_LANE_COUNT];
};

/* Takes the counts of the spool in the file FD, which is to be measured and mapped afterwards. NULL
 * in RET_CUT: it is closed, or no spool. 0, -ENOMEM or what mmap said. */
int live_cut_take(int fd, struct live_cut **ret_cut);
void live_cut_release(struct live_cut *cut); /* accepts NULL */

/* With a ring: makes the pages of a private mapping in which CHUNK lies our own, with a label that
 * is whole. A chunk whose label is being changed has none in the copy: it was begun after the cut.
 */
void live_cut_copy_chunk(struct spool_chunk *chunk);

/* With a ring, once its chunks have been copied: what has been let go by now is not in the cut. */
void live_cut_settle_ring(struct live_cut *cut);

/* False: the chunk was begun after the cut, or let go. */
bool live_cut_has_chunk(const struct live_cut *cut, uint32_t writer, uint32_t sequence);

/* Whether a record is in the cut; of each lane all records in the order of writing. */
bool live_cut_takes(struct live_cut *cut, uint32_t writer, enum record_type type);

/* After the last record: makes the lanes' counts those of the cut. */
void live_cut_finish(struct live_cut *cut);

#endif
