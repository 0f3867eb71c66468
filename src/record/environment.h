/* Every environment variable of dagtap that the injected library reads, in one table. `dagtap
 * record` sets some of them, capture/env.c reads them, and the manual page of `dagtap record`
 * lists them. A table: no functions. */
#ifndef DAGTAP_RECORD_ENVIRONMENT_H
#define DAGTAP_RECORD_ENVIRONMENT_H

/* Most bytes of DAGTAP_CAPTURE_RANGE, with its end. */
#define RECORD_CAPTURE_RANGE_BYTES 1024

/* X(id, name, default, help) */
#define ENVIRONMENT_VARIABLES(X)                                                                   \
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
	X(CALLS, "DAGTAP_CALLS", "selected",                                                       \
	  "which calls are recorded: selected (those that launch, copy, set, allocate or free "    \
	  "memory, build graphs, or can wait), or all")                                            \
	X(WAIT, "DAGTAP_WAIT", "",                                                                 \
	  "1: nothing is recorded before a call starts the recording; 2: the same, but calls of "  \
	  "the vendors' profilers do not count")                                                   \
	X(CAPTURE_RANGE, "DAGTAP_CAPTURE_RANGE", "",                                               \
	  "text of a scope: it is recorded while the scope is open on some thread")                \
	X(SCOPE_SKIP, "DAGTAP_SKIP", "0", "so many instances of that scope are not recorded")      \
	X(SCOPE_COUNT, "DAGTAP_COUNT", "",                                                         \
	  "so many instances of that scope are recorded after them; unset: all")                   \
	X(DELAY, "DAGTAP_DELAY", "0", "seconds from the process's begin without a recording")      \
	X(DURATION, "DAGTAP_DURATION", "",                                                         \
	  "seconds after which the recording ends; unset: with the process")                       \
	X(CONTROL, "DAGTAP_CONTROL", "",                                                           \
	  "1: dagtap control starts and stops the recording, through a socket in the folder")      \
	X(ITERATIONS, "DAGTAP_ITERATIONS", "",                                                     \
	  "text of a scope that requests of dynolog in iterations count")                          \
	X(DYNOLOG, "DAGTAP_DYNOLOG", "",                                                           \
	  "1: dynolog's daemon starts the recording, and nothing is recorded before")              \
	X(HSA_MODE, "DAGTAP_HSA_MODE", "harvest",                                                  \
	  "how HSA queues are timed: harvest, borrow, observe, intercept")                         \
	X(HSA_SERIALIZE, "DAGTAP_HSA_SERIALIZE", "0", "1: one kernel at a time on each GPU")       \
	X(CUPTI, "DAGTAP_CUPTI", "",                                                               \
	  "path of the libcupti.so to use; unset: the one that the process or the loader finds")   \
	X(CUDA_DORMANT, "DAGTAP_CUDA_DORMANT", "1",                                                \
	  "0: CUDA graphs are not followed while nothing is recorded, and CUPTI is left alone")    \
	X(COUNTERS, "DAGTAP_COUNTERS", "1",                                                        \
	  "for tests: 0: the software GPU's counters are no witness, as of a real device")         \
	X(CLOCK, "DAGTAP_CLOCK", "",                                                               \
	  "for tests: the file with the time, which stands still (src/base/clock.h)")              \
	X(TIMERS, "DAGTAP_TIMERS", "",                                                             \
	  "for tests: other periods and limits, NAME=NS or NAME=never (src/base/timer.h)")         \
	X(LOG, "DAGTAP_LOG", "", "file to which the library appends what it does; unset: no log")

#endif
