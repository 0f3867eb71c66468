/* The frame: the call of a vendor's interface that a thread is inside of. GPU work that the
 * thread submits meanwhile gets the frame's correlation id.
 *
 * A frame lives on the wrapper's stack; the frames of one thread form a list, the innermost
 * first. Threading: only the owning thread reads or writes its frames. Cost: two thread-local
 * stores a call. */
#ifndef DAGTAP_CAPTURE_FRAME_H
#define DAGTAP_CAPTURE_FRAME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/call_counter.h"
#include "capture/capture_session.h"

/* The entry points of a call: the function's exported symbol, which ours replaces, or a slot of a
 * dispatch table (capture/dispatch_table.h); there may be DOOR_TABLES tables of a kind. In a
 * library that hands out its dispatch table, the function behind the symbol calls through the slot:
 * such a call enters two wrappers, and is counted and recorded by the first one. */
enum { DOOR_SYMBOL, DOOR_TABLE, DOOR_TABLES = 2, DOOR_COUNT = DOOR_TABLE + DOOR_TABLES };

struct frame {
	struct frame *outer; /* the frame around this one; NULL: none */
	uint64_t cid;	     /* 0: a call that dagtap itself makes, see hip_mute */
	uint64_t scope;	     /* the thread's innermost scope at entry; 0: none */
	uint64_t begin_ns;   /* session_now_ns, before the vendor's function is called */
	uint64_t end_ns;     /* 0: frame_write reads the clock */
	uint32_t activities; /* activities that the call has submitted: the next one's ordinal */
	/* For observers: what these are, as far as they were submitted before the call returned. Of
	 * packets that are passed with another thread's later doorbell it is not known. */
	uint32_t dispatches, copies, others;
	uint32_t unrecorded; /* of the others: packets of which no record is made */
	uint32_t function;   /* the function: its number in the API_NAME records */
	uint32_t session;    /* the session's number at entry; 0: the call is not recorded */
	const char *text;    /* what a function that gives a text has returned; NULL: none */
	bool comes_again;    /* entered by its symbol, and the slot was not entered yet */
};

/* The calling thread's innermost frame; NULL: the thread is in no wrapped call. */
extern __thread struct frame *frame_top __attribute__((tls_model("initial-exec")));

/* Returns whether the call belongs to the current session. False for a call that was entered in
 * an earlier session, or while nothing was recorded. */
static inline bool frame_is_recorded(const struct frame *frame)
{
	return frame->session == session_current_number();
}

/* Makes FRAME the calling thread's innermost frame. FRAME stays valid until frame_pop. */
static inline void frame_push(struct frame *frame)
{
	frame->outer = frame_top;
	frame_top = frame;
}

/* For a wrapper of a table's slot: returns true when the innermost call is FUNCTION, entered by its
 * symbol. Then the slot's call is the same call and is passed. True at most once for a frame: a
 * second call of FUNCTION through the slot is a call of its own. */
static inline bool frame_is_under_way(uint32_t function)
{
	struct frame *top = frame_top;

	if (!top || top->function != function || !top->comes_again)
		return false;
	top->comes_again = false;
	return true;
}

/* Removes FRAME, which must be the calling thread's innermost frame. */
static inline void frame_pop(struct frame *frame)
{
	frame_top = frame->outer;
}

/* The activities of a call of which it is not known what they are. */
static inline uint32_t frame_unknown(const struct frame *frame)
{
	return frame->activities - frame->dispatches - frame->copies - frame->others;
}

/* The submitting call and thread. capture/hsa stores it with a packet's place in the queue when
 * the place is reserved, because another thread may ring the doorbell. */
struct frame_context {
	uint64_t cid;	  /* 0: the thread is in no recorded call */
	uint64_t scope;	  /* 0: none */
	uint32_t ordinal; /* of the activity within the call, from 0 */
	uint32_t tid;
};

enum frame_activity { FRAME_DISPATCH, FRAME_COPY, FRAME_BARRIER, FRAME_UNRECORDED };

/* Counts an activity of call CID of another thread, which takes the count when the call returns.
 * Any thread, no lock. The caller's next release store publishes the count. */
void frame_count_for_another(uint64_t cid, enum frame_activity kind);

/* Adds what other threads have counted for the call of FRAME, which returns now. */
void frame_take_counted(struct frame *frame);

/* In a child of fork: forgets the counts, because the numbers of calls and sessions begin again. */
void frame_counts_forget_parent(void);

/* An activity of call CID goes to the device: counts it. CID 0: of no call. */
static inline void frame_count(uint64_t cid, enum frame_activity kind)
{
	struct frame *frame = frame_top;

	if (__builtin_expect(!frame || frame->cid != cid, 0)) {
		if (cid)
			frame_count_for_another(cid, kind);
		return;
	}
	if (kind == FRAME_DISPATCH)
		frame->dispatches++;
	else if (kind == FRAME_COPY)
		frame->copies++;
	else
		frame->others++;
	if (kind == FRAME_UNRECORDED)
		frame->unrecorded++;
}

/* Writes the API record of a call that has returned, with WORD_COUNT argument words, and adds
 * one to COUNTER's LEFT. Does neither when the session of the call has ended; counts alone when
 * the spool has no room. Called by the thread of the call, after frame_pop. No lock, no
 * allocation. */
void frame_write(const struct frame *frame, int result, uint32_t word_count, const uint64_t *words,
		 struct call_counter *counter);

/* Takes the next ordinal of the calling thread's innermost call. Outside of any wrapped call the
 * context has cid 0 and the innermost scope; within a call that is not recorded, cid and scope
 * 0. */
struct frame_context frame_take(void);

#endif
