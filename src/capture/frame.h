/* The API call that a thread is in: what GPU work submitted meanwhile belongs to.
 *
 * A frame lives on the wrapper's stack; frames of one thread form a list. Cost: two thread-local
 * stores a call. Only the owning thread reads or writes its frames. */
#ifndef DAGTAP_CAPTURE_FRAME_H
#define DAGTAP_CAPTURE_FRAME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/call_counter.h"
#include "capture/session.h"

/* The doors by which a call comes in: the function's symbol, for which ours stands in, or a slot of a
 * dispatch table (capture/table.h). In a library that hands out its table the function behind the symbol
 * calls through the slot: such a call comes by twice, and counts at the first door. */
enum { DOOR_SYMBOL, DOOR_TABLE, DOOR_TABLES = 2, DOOR_COUNT = DOOR_TABLE + DOOR_TABLES };

struct frame {
	struct frame *outer;
	uint64_t cid;
	uint64_t scope; /* innermost scope at entry */
	uint64_t begin_ns;
	uint64_t end_ns;     /* 0: the call ends when its record is written */
	uint32_t activities; /* ordinal of the next GPU activity */
	uint32_t op;
	uint32_t session; /* its number at entry, 0 = the call is not recorded */
	bool comes_again; /* entered by its symbol, the slot may follow */
};

extern __thread struct frame *frame_top __attribute__((tls_model("initial-exec")));

/* False: the call was entered in a session that has ended, or in none. */
static inline bool frame_is_recorded(const struct frame *frame)
{
	return frame->session == session_current_number();
}

static inline void frame_push(struct frame *frame)
{
	frame->outer = frame_top;
	frame_top = frame;
}

/* True, once, when the innermost call is OP and came in by its symbol: this is the same call. */
static inline bool frame_is_under_way(uint32_t op)
{
	struct frame *top = frame_top;

	if (!top || top->op != op || !top->comes_again)
		return false;
	top->comes_again = false;
	return true;
}

static inline void frame_pop(struct frame *frame)
{
	frame_top = frame->outer;
}

/* Who is submitting: what is stored per ring slot when it is reserved. */
struct frame_context {
	uint64_t cid; /* 0 = no call seen on this thread */
	uint64_t scope;
	uint32_t ordinal;
	uint32_t tid;
};

/* The API record of a call that has returned, and its count, unless its session has ended. */
void frame_write(const struct frame *frame, int result, uint32_t word_count, const uint64_t *words,
		 struct call_counter *counter);

/* Takes the next ordinal of the innermost call; cid 0 outside of any wrapped call. */
struct frame_context frame_take(void);

#endif
