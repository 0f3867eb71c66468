/* Reads the environment variables of record/environment.h.
 *
 * Threading: env_remember by the thread that loads the library; the rest by any thread after it. */
#ifndef DAGTAP_CAPTURE_ENV_H
#define DAGTAP_CAPTURE_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/inject.h"
#include "record/environment.h"

enum env_variable {
#define X(id, name, value, help) ENV_##id,
	ENVIRONMENT_VARIABLES(X)
#undef X
		ENV_COUNT
};

/* Copies the values of DAGTAP_SPOOL, DAGTAP_RECORDER, DAGTAP_READY, DAGTAP_RING and DAGTAP_CALLS
 * that are set and not copied yet, so that later changes of the environment by the program do not
 * change where and how it is recorded. All other variables are read when they are asked for, and
 * so is a value that finds no room in the 2 * PATH_MAX bytes for copies. Called by session_arm:
 * when the library is loaded, and for each table that is handed over. Any thread; never waits. */
void env_remember(void);

/* Copies the texts of SETTINGS, each for a variable that is not set or is empty. Called before
 * env_remember, on one thread. */
void env_take_settings(const struct inject_settings *settings);

/* Returns the variable's text, or its default when it is unset or empty. Never NULL. Owned by
 * the environment or by env.c. */
const char *env_text(enum env_variable variable);

/* Returns whether DAGTAP_CALLS leaves out the calls that only read or set a state. */
bool env_calls_are_selected(void);

/* Returns whether the environment has the variable with a text that is not empty. */
bool env_is_set(enum env_variable variable);

/* Returns env_text as a number of bytes, which may end in K, M or G; FALLBACK if it cannot be
 * parsed. */
uint64_t env_bytes(enum env_variable variable, uint64_t fallback);

/* Parses env_text as a size in bytes, an age, or both with a comma between; a value that is not
 * given is set to 0. Returns false, and sets nothing, when it cannot be parsed. */
bool env_size_and_age(enum env_variable variable, uint64_t *ret_bytes, uint64_t *ret_ns);

#endif
