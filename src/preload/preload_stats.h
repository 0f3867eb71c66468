/* Counters of the process, written when it ends to the file that DAGPATCH_PRELOAD_STATS names
 * (preload_stats.c). */
#ifndef DAGPATCH_PRELOAD_STATS_H
#define DAGPATCH_PRELOAD_STATS_H

#include <stdatomic.h>
#include <stdint.h>

/* COUNTER(name, text) */
#define PRELOAD_COUNTERS(COUNTER)                                                                  \
	COUNTER(executables, "executable graphs that were made virtual")                           \
	COUNTER(sets, "calls that set a node of a virtual executable")                             \
	COUNTER(driver_sets, "calls that set a node and reached the driver")                       \
	COUNTER(child_reads, "child graphs that were read, because they were new or changed")      \
	COUNTER(launches, "launches of virtual executables")                                       \
	COUNTER(changed, "launches with another set than the launch before")                       \
	COUNTER(found, "of these: launches of an executable that had the set")                     \
	COUNTER(came_back, "of these: launches with a set that had been there (--advise)")         \
	COUNTER(avoidable, "calls that set a node for a set that had been there (--advise)")       \
	COUNTER(instantiated, "executable graphs that were made for a set that came back")         \
	COUNTER(waits, "waits for an event between two streams")                                   \
	COUNTER(drops, "times that images of no executable were dropped, for memory")              \
	COUNTER(failures, "inner calls of the driver that failed")                                 \
	COUNTER(pass_rare, "passed through: sets did not come back")                               \
	COUNTER(pass_update, "passed through: the whole graph was updated")                        \
	COUNTER(pass_call, "passed through: a call that is not noted")                             \
	COUNTER(pass_child, "passed through: a child graph was set, and nodes inside of it")       \
	COUNTER(pass_node, "passed through: a node that the graph does not list")                  \
	COUNTER(pass_layout, "passed through: a kernel whose parameters are not known")            \
	COUNTER(pass_graph, "passed through: the graph or a node of it was destroyed")             \
	COUNTER(pass_memory, "passed through: no memory, or more images than are kept")

/* TIME(name, text): how often, and how long in all. Measured only if the counters are written. */
#define PRELOAD_TIMES(TIME)                                                                        \
	TIME(note, "noting a kernel's call (1 of 16 is measured)")                                 \
	TIME(note_memory, "noting a copy's or memset's call (1 of 16 is measured)")                \
	TIME(note_child, "noting a child graph's call (1 of 16 is measured)")                      \
	TIME(set, "setting a node in the driver")                                                  \
	TIME(instantiate, "making an executable")                                                  \
	TIME(launch_first, "first launches of an executable that was made")                        \
	TIME(launch_same, "launches of the same executable as before, without a change")           \
	TIME(launch_other, "launches of another executable, which had the set")                    \
	TIME(launch_updated, "launches of an executable that was updated")                         \
	TIME(launch_passed, "launches while nothing is virtual (count)")

struct preload_time {
	_Atomic uint64_t count, ns;
};

struct preload_stats {
#define PRELOAD_COUNTER(name, text) _Atomic uint64_t name;
	PRELOAD_COUNTERS(PRELOAD_COUNTER)
#undef PRELOAD_COUNTER
#define PRELOAD_TIME(name, text) struct preload_time name;
	struct {
		PRELOAD_TIMES(PRELOAD_TIME)
	} times;
#undef PRELOAD_TIME
	/* The call after which an executable passed through, of the last that did. */
	_Atomic(const char *) passed_by;
};

extern struct preload_stats preload_stats;

/* Adds one to a counter. Any thread. */
#define PRELOAD_COUNT(name) atomic_fetch_add_explicit(&preload_stats.name, 1, memory_order_relaxed)

/* The counters will be written. Constant after the library was loaded. */
extern _Bool preload_is_timing;

/* The clock by which all is measured. */
uint64_t preload_now_ns(void);

/* Around what is measured. The first one returns 0 if nothing is; then the second one does
 * nothing. */
uint64_t preload_time_begin(void);
/* Measures 1 of 16, by a sequence that only the number of the thread's calls decides. The mean of
 * these is that of all calls. */
uint64_t preload_note_begin(void);
void preload_time_end(uint64_t begin, struct preload_time *time);

/* DAGPATCH_PRELOAD=count: nothing is virtual; calls that set a node are counted and timed. Constant
 * after the library was loaded. */
extern _Bool preload_is_counting;

/* Around a call of the driver that sets a node and passes. */
uint64_t preload_set_begin(void);
void preload_set_end(uint64_t begin);

#endif
