/* Opens what a merge needs of the recording of a rank: its processes, and of each the calls of
 * collectives with what they submitted (rank_records.h). Of a process that called none, and has its
 * end, no more is read than it takes to know that. Nothing else is loaded, unless a section of the
 * file cannot be read: then all of it is, so that loading tells what is wrong.
 *
 * Threading: one thread; loading uses others inside. Memory: that of at most RANK_COLLECTIVES_MOST
 * collectives of each process, whatever its length. */
#ifndef DAGTAP_MERGE_RANK_RECORDING_H
#define DAGTAP_MERGE_RANK_RECORDING_H

#include "merge/rank_steady.h"
#include "trace/load.h"
#include "trace/pack/bundle.h"

/* The processes of a file in the order of their starts, in one trace or in one each, with those
 * calls and activities alone. */
struct rank_recording {
	struct trace **traces;
	uint32_t count;
	struct rank_steady steady; /* of the processes that called collectives */
};

/* Opens the file PATH, which is open as BUNDLE. Returns 0; the caller closes RET_RECORDING. Else a
 * negative errno of trace_open with its text in ERROR. */
int rank_recording_open(const char *path, const struct bundle *bundle,
			struct rank_recording *ret_recording, struct dagtap_error *error);
void rank_recording_close(struct rank_recording *recording);

#endif
