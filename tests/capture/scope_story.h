/* Renders the scopes of a spool as text, so that a test compares them as a whole. */
#ifndef DAGTAP_TESTS_SCOPE_STORY_H
#define DAGTAP_TESTS_SCOPE_STORY_H

#include "in_child.h"

#define ID(thread, counter) ((uint64_t)(thread) << 48 | (counter))

/*
 * Asserts that the scopes of READER are EXPECTED: one line for each begin, "thread:counter parent
 * kind text key=value" (a value is i, u or d and a number, or "text"), and "-counter" for each end,
 * in order.
 */
void assert_scopes_of(const struct spool_reader *reader, const char *expected);

/* Runs BODY in a child and applies assert_scopes_of to the one spool that it leaves. */
void assert_scopes(const struct fixture *fixture, void (*body)(void), const char *expected);

#endif
