/* The scopes of a spool as text, to be compared as a whole. */
#ifndef DAGTAP_TESTS_SCOPE_STORY_H
#define DAGTAP_TESTS_SCOPE_STORY_H

#include "in_child.h"

#define ID(thread, counter) ((uint64_t)(thread) << 48 | (counter))

/* EXPECTED: "thread:counter parent kind text key=value" of every scope (a value is i, u or d and a
 * number, or "text"), "-counter" of every end, in order, one a line. */
void assert_scopes_of(const struct spool_reader *reader, const char *expected);

/* Runs BODY in a child and looks at its one spool. */
void assert_scopes(const struct fixture *fixture, void (*body)(void), const char *expected);

#endif
