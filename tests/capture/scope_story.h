/* The scopes of a spool as text, to be compared as a whole. */
#ifndef DAGTAP_TESTS_SCOPE_STORY_H
#define DAGTAP_TESTS_SCOPE_STORY_H

#include "in_child.h"

#define ID(thread, counter) ((uint64_t)(thread) << 48 | (counter))

/* Runs BODY in a child. EXPECTED: "thread:counter parent kind text" of every scope, "-counter" of
 * every end, in order, one a line. */
void assert_scopes(const struct fixture *fixture, void (*body)(void), const char *expected);

#endif
