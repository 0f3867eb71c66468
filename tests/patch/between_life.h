/* The life of a recording on a driver whose calls can fail (between.h): a nested kernel, captured
 * copies, a captured kernel; launches at two sets of addresses, with another kernel in between. All
 * functions fail the cmocka test on an error. Used by one thread. */
#ifndef TESTS_PATCH_BETWEEN_LIFE_H
#define TESTS_PATCH_BETWEEN_LIFE_H

#include "between.h"
#include "suite.h"

enum { LIFE_SLOTS = 5 };

/* Opens BED for the following calls. Returns 0 or the program's exit status. */
int life_open(const struct bed *bed);
void life_close(void);

/* Creates a context on the library that can make calls fail (BETWEEN_LIBRARY). NULL: it could not
 * be created; *ERROR, which may be NULL, has the reason. */
struct dagpatch_context *life_context(enum dagpatch_strategy strategy,
				      struct dagpatch_error *error);

/* Parts of the names of driver calls whose failure a life need not report, ended by NULL. NULL: no
 * failure needs to be reported. */
extern const char *const *life_silent;

/* Launches with two sets of addresses, then with the first one again. A launch that succeeds must
 * compute the right result at the bound addresses. If a call of dagpatch fails, its message names
 * the driver's call that failed, and the next launch, without failures, is right. */
void life_run(enum dagpatch_strategy strategy);

/* Runs the life once for each of its driver calls, which fails. Whatever the driver has made must
 * be destroyed at the end. */
void life_fail_each_call(enum dagpatch_strategy strategy);

#endif
