/* Notes about the ranks of a merged recording: which are missing, were cut off, or were restarted.
 * Threading: a function of its arguments. */
#ifndef DAGTAP_MERGE_RANK_NOTES_H
#define DAGTAP_MERGE_RANK_NOTES_H

#include "merge/rank_collectives.h"
#include "trace/pack/ranks.h"

/* A process of a rank's file, with its times on the reference's clock. */
struct rank_process {
	uint32_t file; /* index into ranks.files */
	uint32_t pid;
	uint32_t session; /* recordings that the process made before this one */
	bool is_cut;	  /* the recording has no end */
	int64_t start_ns, end_ns;
};

/* Adds notes to RANKS, whose files are filled. The `process` of MEMBERS is an index into PROCESSES.
 * Ranks are counted by the largest communicators. Sorts MEMBERS. Returns 0 or -ENOMEM. */
int rank_notes_add(const struct rank_process *processes, uint32_t process_count,
		   struct rank_member *members, uint32_t member_count, struct ranks *ranks);

#endif
