/* Opens what a merge needs of the recording of a rank.
 *
 * A recording whose processes have ended and called no collectives is not loaded: its processes are
 * all that a merge needs. To know that, only the blocks are read that hold calls of NCCL or RCCL,
 * if there can be any.
 *
 * Threading: one thread; loading uses others inside. Memory: with collectives that of the loaded
 * recording, else a few blocks of it. */
#ifndef DAGTAP_MERGE_RANK_RECORDING_H
#define DAGTAP_MERGE_RANK_RECORDING_H

#include "trace/load.h"
#include "trace/pack/bundle.h"

/* The processes of a file in the order of their starts, in one trace or in one each. */
struct rank_recording {
	struct trace **traces;
	uint32_t count;
};

/* Opens the file PATH, which is open as BUNDLE. Returns 0; the caller closes RET_RECORDING. Else a
 * negative errno of trace_open with its text in ERROR. */
int rank_recording_open(const char *path, const struct bundle *bundle,
			struct rank_recording *ret_recording, struct dagtap_error *error);
void rank_recording_close(struct rank_recording *recording);

#endif
