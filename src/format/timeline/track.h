/* Lays out rows on tracks on which they nest. The rows of a track come in the order of time. A row
 * that overlaps an earlier one of its track without nesting goes to a further track, so that no
 * time is changed and no row is lost.
 *
 * The rows are those of one list, or of two lists of different tables, such as the scopes and the
 * calls of a thread. If a scope and a call have the same begin and end, the scope is the outer one.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_TIMELINE_TRACK_H
#define DAGTAP_FORMAT_TIMELINE_TRACK_H

#include "format/timeline/track_rows.h"

enum track_table { TRACK_SCOPES, TRACK_CALLS, TRACK_TABLES };

/* The tracks of a thread, one after the other. */
struct tracks {
	unsigned number;	/* of the current track, from 1 */
	enum track_table table; /* the row that tracks_next has taken, and its table */
	uint32_t row;
	int error; /* -ENOMEM ends the tracks; else 0 */

	/* private to track.c */
	const struct rows *rows[TRACK_TABLES];
	struct rows_list lists[TRACK_TABLES]; /* rows that are on no track yet */
	struct rows_walk walks[TRACK_TABLES];
	struct rows_time heads[TRACK_TABLES]; /* times of the rows that `walks` give next */
	struct rows_nest *nest;
};

/* Sorts both lists and starts before the first track. SCOPES and CALLS hold the lists and are
 * borrowed; CALLS and CALL_LIST are NULL if there is only one list. NEST is the caller's, so that
 * all threads share its memory; NULL: rows need not nest, and there is one track. The
 * lists must not be used afterwards, because the tracks use the links of their rows. An error is
 * kept in `error`. */
struct tracks tracks_open(const struct rows *scopes, struct rows_list *scope_list,
			  const struct rows *calls, struct rows_list *call_list,
			  struct rows_nest *nest);

/* Begins the next track, after all rows of the one before have been taken. False if all rows are
 * on a track, or after an error. */
bool tracks_begin(struct tracks *tracks);

/* Takes the next row of the track: sets table and row. False if the track is complete, or after an
 * error. */
bool tracks_next(struct tracks *tracks);

/* The call that mostly comes ROWS_AHEAD calls later, or ROWS_NONE: for a caller that fetches what
 * belongs to it, because the calls of a thread are far apart in the tables. */
static inline uint32_t tracks_call_ahead(const struct tracks *tracks)
{
	return tracks->walks[TRACK_CALLS].ahead;
}

#endif
