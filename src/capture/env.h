/* Every environment variable of dagtap that the injected library reads, in one table.
 *
 * Threading: env_remember by the thread that loads the library; the rest by any thread after it. */
#ifndef DAGTAP_CAPTURE_ENV_H
#define DAGTAP_CAPTURE_ENV_H

#include <stdbool.h>
#include <stdint.h>

/* X(id, name, default, help) */
#define ENV_VARIABLES(X)                                                                           \
	X(SPOOL, "DAGTAP_SPOOL", "",                                                               \
	  "folder for the spool files, which must exist; unset: the library does nothing")         \
	X(RECORDER, "DAGTAP_RECORDER", "",                                                         \
	  "set by dagtap record: where a process that cannot be recorded says why")                \
	X(READY, "DAGTAP_READY", "256M",                                                           \
	  "most bytes kept ready ahead of the threads that record (K, M, G; 4M to 1G); with a "    \
	  "ring and unset: 128M or a quarter of it")                                               \
	X(RING, "DAGTAP_RING", "",                                                                 \
	  "ring mode: how much of the recording is kept, the last: SIZE (K, M, G), SECONDSs, or "  \
	  "SIZE,SECONDSs; unset: all of it")                                                       \
	X(HSA_MODE, "DAGTAP_HSA_MODE", "harvest",                                                  \
	  "how HSA queues are timed: harvest, borrow, observe, intercept")                         \
	X(HSA_SERIALIZE, "DAGTAP_HSA_SERIALIZE", "0", "1: one kernel at a time on each GPU")       \
	X(CUPTI, "DAGTAP_CUPTI", "",                                                               \
	  "path of the libcupti.so to use; unset: the one that the process or the loader finds")   \
	X(COUNTERS, "DAGTAP_COUNTERS", "1",                                                        \
	  "for tests: 0: the software GPU's counters are no witness, as of a real device")         \
	X(CLOCK, "DAGTAP_CLOCK", "",                                                               \
	  "for tests: the file with the time, which stands still (src/base/clock.h)")              \
	X(TIMERS, "DAGTAP_TIMERS", "",                                                             \
	  "for tests: other periods and limits, NAME=NS or NAME=never (src/base/timer.h)")         \
	X(LOG, "DAGTAP_LOG", "", "file to which the library appends what it does; unset: no log")

enum env_variable {
#define X(id, name, value, help) ENV_##id,
	ENV_VARIABLES(X)
#undef X
		ENV_COUNT
};

/* Copies the values of DAGTAP_SPOOL, DAGTAP_RECORDER, DAGTAP_READY and DAGTAP_RING that are set and
 * not copied yet, so that later changes of the environment by the program do not change where and
 * how it is recorded. All other variables are read when they are asked for, and so is a value that
 * finds no room in the 2 * PATH_MAX bytes for copies. Called by session_arm: when the library is
 * loaded, and for each table that is handed over. Any thread; never waits. */
void env_remember(void);

/* Returns the variable's text, or its default when it is unset or empty. Never NULL. Owned by
 * the environment or by env.c. */
const char *env_text(enum env_variable variable);

/* Returns whether the environment has the variable with a text that is not empty. */
bool env_is_set(enum env_variable variable);

/* Returns env_text as a number of bytes, which may end in K, M or G; FALLBACK if it cannot be
 * parsed. */
uint64_t env_bytes(enum env_variable variable, uint64_t fallback);

/* Parses env_text as a size in bytes, an age, or both with a comma between; a value that is not
 * given is set to 0. Returns false, and sets nothing, when it cannot be parsed. */
bool env_size_and_age(enum env_variable variable, uint64_t *ret_bytes, uint64_t *ret_ns);

#endif
