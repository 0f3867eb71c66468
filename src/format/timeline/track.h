/* Lays out the scopes and calls of one thread on tracks (struct track) on which events nest
 * properly. The events of a track come in the order of time. If a scope and a call have the same
 * begin and end, the scope is the outer one. Rows that do not nest are left in the lists for a
 * further track.
 *
 * The writers of XSpace and Kineto share it: sort the lists once, then begin, next and end for
 * each track until the lists are empty. Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_TIMELINE_TRACK_H
#define DAGTAP_FORMAT_TIMELINE_TRACK_H

#include "format/timeline/rows.h"

enum track_table { TRACK_SCOPES, TRACK_CALLS, TRACK_TABLES };

/* The rows that are not on a track yet, by table. Borrowed from the caller; track_end replaces
 * them. */
struct track_lists {
	struct rows_list *of[TRACK_TABLES];
};

/* One track while its rows are taken. */
struct track {
	const struct track_lists *lists;
	struct rows_nest *nest;
	struct rows_walk walks[TRACK_TABLES];
	struct rows_time heads[TRACK_TABLES]; /* times of the rows that `walks` give next */
	struct rows_list rest[TRACK_TABLES];  /* rows that do not fit on this track */
};

/* True if all rows are on a track. */
static inline bool track_lists_are_empty(const struct track_lists *lists)
{
	return rows_list_count(lists->of[TRACK_SCOPES]) + rows_list_count(lists->of[TRACK_CALLS]) ==
	       0;
}

/* Sorts both lists. Call it once before the first track. Returns 0 or -ENOMEM. */
int track_lists_sort(const struct track_lists *lists, const struct rows *scopes,
		     const struct rows *calls);

/* Starts a track. LISTS, SCOPES, CALLS and NEST are borrowed until track_end. NEST is the caller's
 * so that all tracks share its memory; this call empties it. */
void track_begin(struct track *track, const struct track_lists *lists, const struct rows *scopes,
		 const struct rows *calls, struct rows_nest *nest);

/* Takes the next row of this track. Returns 1 and sets table and row; 0 if the track is complete;
 * -ENOMEM. */
int track_next(struct track *track, enum track_table *ret_table, uint32_t *ret_row);

/* Ends the track: the lists now hold the rows that did not fit on it. */
void track_end(struct track *track);

#endif
