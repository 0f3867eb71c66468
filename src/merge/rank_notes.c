/* Notes about ranks (rank_notes.h). */
#include "merge/rank_notes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ranks that are listed of those that are missing. */
enum { LISTED_MOST = 16 };

struct notes {
	const struct rank_process *processes;
	uint32_t process_count;
	const struct rank_member *members; /* those of the largest communicators */
	uint32_t member_count;
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
	for (uint32_t i = 0; i < notes->ranks->note_count; i++) {
		if (!strcmp(notes->ranks->notes[i], text))
			return 0;
	}
	return ranks_add_note(notes->ranks, text);
}

/* Prints the ranks of a communicator that none of COUNT members is. Returns how many there are. */
static uint32_t list_missing(const struct rank_member *members, uint32_t count, FILE *out)
{
	uint32_t missing = 0, at = 0;

	for (uint32_t rank = 0; rank < members->ranks && missing < members->ranks; rank++) {
		while (at < count && members[at].rank < rank)
			at++;
		if (at < count && members[at].rank == rank)
			continue;
		if (missing < LISTED_MOST)
			fprintf(out, "%s%" PRIu32, missing ? ", " : "", rank);
		missing++;
	}
	if (missing > LISTED_MOST)
		fputs(" ...", out);
	return missing;
}

/* Says which ranks of one communicator have no recording. */
static int tell_missing(struct notes *notes, const struct rank_member *members, uint32_t count)
{
	char list[LISTED_MOST * 12 + 8], text[sizeof(list) + 100];
	FILE *out = fmemopen(list, sizeof(list), "w");
	uint32_t missing;

	if (!out)
		return -ENOMEM;
	missing = list_missing(members, count, out);
	fclose(out);
	if (!missing)
		return 0;
	snprintf(text, sizeof(text), "of %" PRIu32 " ranks %" PRIu32 " %s missing: %s",
		 members->ranks, missing, missing == 1 ? "is" : "are", list);
	return add(notes, text);
}

static int tell_all_missing(struct notes *notes)
{
	int err = 0;

	for (uint32_t i = 0, n; i < notes->member_count && err == 0; i += n) {
		const struct rank_member *first = &notes->members[i];

		for (n = 1; i + n < notes->member_count; n++) {
			if (first[n].communicator != first->communicator)
				break;
		}
		err = tell_missing(notes, first, n);
	}
	return err;
}

/* Whether B is the process of a rank that A was before. */
static bool is_restart(const struct notes *notes, const struct rank_member *a,
		       const struct rank_member *b)
{
	const struct rank_process *before = &notes->processes[a->process];
	const struct rank_process *after = &notes->processes[b->process];

	return a->rank == b->rank && a->communicator != b->communicator &&
	       (before->file != after->file || before->pid != after->pid) &&
	       before->end_ns <= after->start_ns;
}

static int tell_restarts(struct notes *notes)
{
	int err = 0;

	for (uint32_t i = 0; i < notes->member_count; i++) {
		for (uint32_t k = 0; k < notes->member_count && err == 0; k++) {
			const struct rank_member *a = &notes->members[i], *b = &notes->members[k];
			const struct rank_process *before = &notes->processes[a->process];
			const struct rank_process *after = &notes->processes[b->process];
			char text[600];

			if (!is_restart(notes, a, b))
				continue;
			snprintf(text, sizeof(text),
				 "rank %" PRIu32 " was restarted: process %" PRIu32
				 " of %.200s, then process %" PRIu32 " of %.200s",
				 a->rank, before->pid, notes->ranks->files[before->file].name,
				 after->pid, notes->ranks->files[after->file].name);
			err = add(notes, text);
		}
	}
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
	struct notes notes = {processes, process_count, members, 0, ranks};
	int err;

	if (member_count)
		qsort(members, member_count, sizeof(*members), compare_members);
	while (notes.member_count < member_count &&
	       members[notes.member_count].ranks == members[0].ranks)
		notes.member_count++;
	err = tell_all_missing(&notes);
	if (err == 0)
		err = tell_restarts(&notes);
	for (uint32_t i = 0; i < process_count && err == 0; i++)
		err = tell_process(&notes, &processes[i]);
	return err;
}
