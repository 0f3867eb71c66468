/* Whether a thread is inside of what may call a tool. A tool may leave its callback by longjmp or
 * an exception, after which no function here is called. So what a thread is inside of has a place
 * on its stack with a number of its own. A place that lies below the caller's frame, or whose
 * number was overwritten, was left.
 *
 * This is known of the stack that the thread was started with alone. A place on another one (of a
 * coroutine, or of signals) counts as not left until inside_leave, and no place counts as left for
 * a caller that runs on another one.
 *
 * Each thread has its own places. Cost: a few stores to thread-local memory. Where the thread has a
 * place already, its stack is looked up once. */
#ifndef DAGTAP_SDK_INSIDE_H
#define DAGTAP_SDK_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

enum inside_kind { INSIDE_CALL, INSIDE_MARK };

/* For a function that has a place: ASan may put the variables of others outside of the stack. */
#define INSIDE_ON_STACK __attribute__((no_sanitize("address")))

/* A local variable of the function that may call a tool. */
struct inside {
	volatile uint64_t number;
};

/* The calling thread is inside of KIND until inside_leave, or until the frame of PLACE is left.
 * Returns whether it already was. */
bool inside_enter(struct inside *place, enum inside_kind kind);
void inside_leave(struct inside *place);

/* Whether the calling thread is inside of KIND. */
bool inside_is(enum inside_kind kind);

#endif
