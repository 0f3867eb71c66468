/* Notes about ranks (rank_notes.h). */
#include "merge/rank_notes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strtab.h"

/* The most missing ranks that one note lists, and the most such notes. */
enum { LISTED_MOST = 16, LISTS_MOST = 64 };

struct notes {
	const struct rank_process *processes;
	uint32_t process_count;
	const struct rank_member *members; /* those of the largest communicators */
	uint32_t member_count;
	struct strtab known; /* the notes that were added */
	struct ranks *ranks;
};

static int compare_members(const void *left, const void *right)
{
	const struct rank_member *a = left, *b = right;

	if (a->ranks != b->ranks)
		return a->ranks > b->ranks ? -1 : 1;
	if (a->communicator != b->communicator)
		return a->communicator < b->communicator ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

/* Adds a note, unless it has been added before: several communicators may miss the same ranks. */
static int add(struct notes *notes, const char *text)
{
	uint32_t known = notes->known.count;

	if (strtab_intern_z(&notes->known, text) < known && !notes->known.failed)
		return 0;
	return notes->known.failed ? -ENOMEM : ranks_add_note(notes->ranks, text);
}

/* The number of ranks of a communicator that are not among its COUNT members. */
static uint32_t count_missing(const struct rank_member *members, uint32_t count)
{
	uint32_t missing = members->ranks;

	for (uint32_t i = 0; i < count; i++)
		missing -= i == 0 || members[i].rank != members[i - 1].rank;
	return missing;
}

/* Prints the first LISTED_MOST of the MISSING ranks of a communicator. */
static void list_missing(const struct rank_member *members, uint32_t count, uint32_t missing,
			 FILE *out)
{
	uint32_t listed = 0, at = 0;

	for (uint32_t rank = 0; listed < missing && listed < LISTED_MOST; rank++) {
		while (at < count && members[at].rank < rank)
			at++;
		if (at < count && members[at].rank == rank)
			continue;
		fprintf(out, "%s%" PRIu32, listed ? ", " : "", rank);
		listed++;
	}
	if (missing > LISTED_MOST)
		fputs(" ...", out);
}

/* Says which ranks of one communicator have no recording. */
static int tell_missing(struct notes *notes, const struct rank_member *members, uint32_t count)
{
	char list[LISTED_MOST * 12 + 8], text[sizeof(list) + 100];
	uint32_t missing = count_missing(members, count);
	FILE *out;

	if (!missing)
		return 0;
	out = fmemopen(list, sizeof(list), "w");
	if (!out)
		return -ENOMEM;
	list_missing(members, count, missing, out);
	fclose(out);
	snprintf(text, sizeof(text), "of %" PRIu32 " ranks %" PRIu32 " %s missing: %s",
		 members->ranks, missing, missing == 1 ? "is" : "are", list);
	return add(notes, text);
}

/* Called first, so that all notes are of missing ranks. */
static int tell_all_missing(struct notes *notes)
{
	int err = 0;

	for (uint32_t i = 0, n; i < notes->member_count && err == 0; i += n) {
		const struct rank_member *first = &notes->members[i];

		if (notes->ranks->note_count == LISTS_MOST)
			return ranks_add_note(notes->ranks,
					      "ranks of further communicators may be missing");
		for (n = 1; i + n < notes->member_count; n++) {
			if (first[n].communicator != first->communicator)
				break;
		}
		err = tell_missing(notes, first, n);
	}
	return err;
}

/* ---- restarts ---- */

/* A process that was a rank, on one of the rank's communicators. */
struct stay {
	uint32_t rank, process;
	uint64_t communicator;
	int64_t start_ns, end_ns;
};

/* By rank, start, process and communicator. */
static int compare_starts(const void *left, const void *right)
{
	const struct stay *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->communicator > b->communicator) - (a->communicator < b->communicator);
}

/* By rank, end and start. */
static int compare_ends(const void *left, const void *right)
{
	const struct stay *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Fills STAYS, one for each rank and process, in the order of compare_starts. Returns their number,
 * that of members at most. */
static uint32_t find_stays(const struct notes *notes, struct stay *stays)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < notes->member_count; i++) {
		const struct rank_member *member = &notes->members[i];
		const struct rank_process *process = &notes->processes[member->process];

		stays[i] = (struct stay){member->rank, member->process, member->communicator,
					 process->start_ns, process->end_ns};
	}
	qsort(stays, notes->member_count, sizeof(*stays), compare_starts);
	for (uint32_t i = 0; i < notes->member_count; i++) {
		if (kept && stays[kept - 1].rank == stays[i].rank &&
		    stays[kept - 1].process == stays[i].process)
			continue;
		stays[kept++] = stays[i];
	}
	return kept;
}

/* Whether A is of a rank before B's, or of the same and ended before B started. */
static bool is_before(const struct stay *a, const struct stay *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return a->end_ns <= b->start_ns && a->start_ns < b->start_ns;
}

/* Adds a note if BEFORE, which ended before AFTER started, was a process of the same rank. */
static int tell_restart(struct notes *notes, const struct stay *before, const struct stay *after)
{
	const struct rank_process *first = &notes->processes[before->process];
	const struct rank_process *then = &notes->processes[after->process];
	char text[600];

	if (before->rank != after->rank || before->communicator == after->communicator ||
	    (first->file == then->file && first->pid == then->pid))
		return 0;
	snprintf(text, sizeof(text),
		 "rank %" PRIu32 " was restarted: process %" PRIu32
		 " of %.200s, then process %" PRIu32 " of %.200s",
		 after->rank, first->pid, notes->ranks->files[first->file].name, then->pid,
		 notes->ranks->files[then->file].name);
	return ranks_add_note(notes->ranks, text);
}

/* Compares each process with the last one of its rank that ended before it. */
static int tell_restarts(struct notes *notes)
{
	size_t room = notes->member_count + 1ull;
	struct stay *starts = calloc(2 * room, sizeof(*starts)), *ends = starts + room;
	uint32_t count, ended = 0;
	int err = 0;

	if (!starts)
		return -ENOMEM;
	count = find_stays(notes, starts);
	memcpy(ends, starts, count * sizeof(*ends));
	qsort(ends, count, sizeof(*ends), compare_ends);
	for (uint32_t i = 0; i < count && err == 0; i++) {
		while (ended < count && is_before(&ends[ended], &starts[i]))
			ended++;
		if (ended)
			err = tell_restart(notes, &ends[ended - 1], &starts[i]);
	}
	free(starts);
	return err;
}

static int tell_process(struct notes *notes, const struct rank_process *row)
{
	const char *name = notes->ranks->files[row->file].name;
	char text[600];
	int err = 0;

	if (row->is_cut) {
		snprintf(text, sizeof(text), "%.400s: process %" PRIu32 " was cut off", name,
			 row->pid);
		err = add(notes, text);
	}
	if (row->session && err == 0) {
		snprintf(
			text, sizeof(text),
			"%.400s: process %" PRIu32
			" stopped its recording and started it again; nothing is known of the time "
			"between",
			name, row->pid);
		err = add(notes, text);
	}
	return err;
}

int rank_notes_add(const struct rank_process *processes, uint32_t process_count,
		   struct rank_member *members, uint32_t member_count, struct ranks *ranks)
{
	struct notes notes = {processes, process_count, members, 0, {0}, ranks};
	int err = strtab_init(&notes.known);

	if (member_count)
		qsort(members, member_count, sizeof(*members), compare_members);
	while (notes.member_count < member_count &&
	       members[notes.member_count].ranks == members[0].ranks)
		notes.member_count++;
	if (err == 0)
		err = tell_all_missing(&notes);
	if (err == 0)
		err = tell_restarts(&notes);
	for (uint32_t i = 0; i < process_count && err == 0; i++)
		err = tell_process(&notes, &processes[i]);
	strtab_release(&notes.known);
	return err;
}
