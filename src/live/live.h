/* Follows a recording while it is made, in any process that may read its spool, the recorded one
 * included: gives out finished calls and activities in the model of trace/trace_model.h, in bounded
 * memory.
 *
 *	err = live_open(path, NULL, &live, &error);
 *	do {
 *		err = live_poll(live, &window);
 *		...rows of window, if it is not NULL; trace_close(window)...
 *	} while (err > 0 || ...wait, then poll again...);
 *	live_finish(live, &window) as long as it gives windows;
 *	live_close(live);
 *
 * A window is a trace with the rows of some units (live/units.h): of calls that have returned, with
 * all their activities, which have ended. Each call, activity, launch and memory operation is in
 * one window, and its row is that of the whole recording, with these differences:
 *
 * - Indices are those of the window. Threads, agents, queues, names of functions and scopes are
 *   repeated in each window that refers to them. A scope may be open in one and closed in a later
 *   one.
 * - A stream is known by its handle alone: its kind and ordinal are not those of the recording.
 * - Without most_graph_bytes, an activity of a graph's launch has its launch and its executable
 *   graph, but no node, and what only the node tells is missing in its work kind. With it, nodes
 *   have no scope.
 * - A memory operation may have its correlation id but no call, if its call was in an earlier
 *   window. Resets of devices release nothing.
 * - Events, waits and the ledger are not made.
 * - Times are converted with the anchors up to then. They are those of the whole recording, unless
 *   a later anchor shows that an earlier one was read badly, or takes_any_time is set.
 *
 * Of CUDA, an activity is given out when it has come and its times are final. Its call, the calls
 * around that and its launch are in the same window if they are among the newest
 * (live/kept_cuda_calls.h): a call may be in several windows, and calls without activities are in
 * none.
 *
 * Of a ring recording, records may be dropped by the ring before they are read: they are counted,
 * and their units end as those that lack records.
 *
 * Threading: one thread at a time uses a struct live; windows are independent of it. Loading a
 * window shares no state with the recorded program and takes no lock of it. Cost: each poll reads
 * at most LIVE_READ_BYTES and gives out at most LIVE_WINDOW_BYTES. */
#ifndef DAGTAP_LIVE_LIVE_H
#define DAGTAP_LIVE_LIVE_H

#include "live/cuda_launches.h"
#include "live/follower.h"
#include "trace/load.h"

struct live;

#define LIVE_READ_BYTES	  (4u << 20)
#define LIVE_WINDOW_BYTES (4u << 20)

/* All zero: the defaults. */
struct live_options {
	/* Records that are kept because they are not finished; more are cut off, oldest first.
	 * 0: 64 MiB. */
	size_t most_open_bytes;
	/* Give out dispatches as soon as they have ended, with the clock as it is fitted then. Else
	 * they wait for anchors that make their times final, up to half a second. */
	bool takes_any_time;
	/* How long after its return a call is given out though records of it are missing and
	 * nothing of it is under way, in ns of the recording's clock. 0: 2 s; UINT64_MAX: never. A
	 * test that has records come in another order sets it. */
	uint64_t quiet_ns;
	/* Follow the spool of a ring recording, too; else live_open refuses it (-EOPNOTSUPP). */
	bool takes_ring;
	/* Keep up to so many bytes of records of graphs, and load windows with launches with them.
	 * 0: none. */
	size_t most_graph_bytes;
	/* Compare what was launched on CUDA with what came (live_compare). */
	bool compares_launches;
	/* How windows are loaded; without_waits and without_ledger are always set. */
	struct trace_options load;
};

/* Opens the spool at PATH, or the one that FD refers to, which the caller keeps; NAME stands for it
 * in messages. OPTIONS may be NULL. Returns 0 and a follower that the caller closes, or an error
 * of follower_open (live/follower.h) or of open, with its text in ERROR, which may be NULL. */
int live_open(const char *path, const struct live_options *options, struct live **ret_live,
	      struct dagtap_error *error);
int live_open_fd(int fd, const char *name, const struct live_options *options,
		 struct live **ret_live, struct dagtap_error *error);

/* Reads on, and sets *RET_WINDOW to a trace with units that are finished, or to NULL if there are
 * none; the caller closes it with trace_close. Returns 1 if there is more to read or to give out
 * now, 0 if not, or a negative errno: -ENOMEM, -E2BIG. After an error only live_close
 * may be called. */
int live_poll(struct live *live, struct trace **ret_window);

/* Like live_poll without reading: gives out units that are finished already. Returns 1 if there are
 * more of them, else as above. */
int live_give(struct live *live, struct trace **ret_window);

/* To be called when the process has ended, before the last polls: follower_note_death
 * (live/follower.h). */
void live_note_death(struct live *live);

/* Like live_poll without reading: gives out what is left as it is, after the last records were
 * polled. Activities without a completion are untimed. Returns 1 if there is more, else as
 * above. */
int live_finish(struct live *live, struct trace **ret_window);

/* Marks the records that are complete now, whether they have been read or not; a mark replaces the
 * last one. However fast the process goes on, a bounded number of polls reads what is before the
 * mark. */
void live_mark(struct live *live);

/* Whether all records before the mark have been read, and whether all units that had records there
 * have been given out. */
bool live_has_read(const struct live *live);
bool live_is_past(const struct live *live);

/* The process that is recorded. Texts are valid until live_close. */
const struct spool_info *live_info(const struct live *live);

/* Whether the recording is closed: after a poll that returned 0, no more records come. */
bool live_is_closed(const struct live *live);

struct live_counts {
	uint64_t units_open; /* met, and not given out */
	uint64_t open_bytes; /* their records */
	uint64_t running;    /* submissions without their completion, or the other way round */
	uint64_t definition_bytes; /* records that stay, because later ones may refer to them */
	uint64_t cut_off;	   /* units that were given out without all their records */
	uint64_t damaged_chunks;   /* chunks whose rest was not read */
	uint64_t graph_records_left_out; /* beyond most_graph_bytes */
	/* Activities that have no record, as the capture source of CUDA says: CUPTI dropped them or
	 * was behind. As of the last tick that was read. */
	uint64_t cuda_dropped;
	struct follower_counts ring; /* what was read, and what the ring dropped before */
	/* Records that are not followed, by type. */
	uint64_t passed[RECORD_TYPE_COUNT];
};

/* What LIVE keeps and has left out so far. */
void live_count(const struct live *live, struct live_counts *ret_counts);

/* Compares what was launched on CUDA so far with what was read of it. IS_OVER: all that the process
 * has written was read; else everything that has not come may be under way, and so it is if the
 * process was killed, or if its last buffers ended in work that had not finished. All zero without
 * compares_launches. */
void live_compare(const struct live *live, bool is_over, struct deliveries *ret);

/* Frees LIVE, which may be NULL; windows stay valid. */
void live_close(struct live *live);

#endif
