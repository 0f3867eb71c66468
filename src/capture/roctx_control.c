/* The wrappers of roctxProfilerPause and roctxProfilerResume; see roctx_control.h. */
#include "capture/roctx_control.h"

#include <stdint.h>

#include "capture/capture_switch.h"
#include "capture/roctx_call.h"
#include "capture/visible.h"

#define ALL_THREADS 0

int roctxProfilerPause(uint64_t tid);
int roctxProfilerResume(uint64_t tid);

enum control_function { ROCTX_PAUSE, ROCTX_RESUME, ROCTX_CONTROL_COUNT };

static void *_Atomic nexts[DOOR_COUNT][ROCTX_CONTROL_COUNT];

static void *next_at(unsigned int door, enum control_function function)
{
	static const char *const symbols[ROCTX_CONTROL_COUNT] = {"roctxProfilerPause",
								 "roctxProfilerResume"};

	return roctx_call_next(&nexts[door][function], door, symbols[function]);
}

/* Pausing one thread is not supported. The recording says so. */
static bool is_for_all(uint64_t tid)
{
	if (tid != ALL_THREADS)
		switch_note("capture range: not followed: roctxProfilerPause or Resume of one "
			    "thread");
	return tid == ALL_THREADS;
}

/* Both return what the real roctx returns, and 0 without one. */
static int pause_at(unsigned int door, uint64_t tid)
{
	int (*next)(uint64_t) = next_at(door, ROCTX_PAUSE);
	struct inject_mark mark;
	int result;

	roctx_call_enter(door, &mark, INJECT_PAUSE, NULL, tid);
	if (switch_is_armed() && is_for_all(tid))
		switch_profiler_stop("roctxProfilerPause");
	result = next ? next(tid) : 0;
	roctx_call_leave(&mark, (uint64_t)result);
	return result;
}

static int resume_at(unsigned int door, uint64_t tid)
{
	int (*next)(uint64_t) = next_at(door, ROCTX_RESUME);
	struct inject_mark mark;
	int result;

	roctx_call_enter(door, &mark, INJECT_RESUME, NULL, tid);
	result = next ? next(tid) : 0;
	if (switch_is_armed() && is_for_all(tid))
		switch_profiler_start("roctxProfilerResume");
	roctx_call_leave(&mark, (uint64_t)result);
	return result;
}

CAPTURE_EXPORT int roctxProfilerPause(uint64_t tid)
{
	return pause_at(DOOR_SYMBOL, tid);
}

CAPTURE_EXPORT int roctxProfilerResume(uint64_t tid)
{
	return resume_at(DOOR_SYMBOL, tid);
}

#define OF_TABLE(table)                                                                            \
	static int pause_of_table_##table(uint64_t tid)                                            \
	{                                                                                          \
		return pause_at(DOOR_TABLE + table, tid);                                          \
	}                                                                                          \
	static int resume_of_table_##table(uint64_t tid)                                           \
	{                                                                                          \
		return resume_at(DOOR_TABLE + table, tid);                                         \
	}
OF_TABLE(0)
OF_TABLE(1)
_Static_assert(DOOR_TABLES == 2, "one wrapper a table");

static const struct table_slot slots[ROCTX_CONTROL_COUNT] = {
	{ROCTX_PAUSE, {(void (*)(void))pause_of_table_0, (void (*)(void))pause_of_table_1}},
	{ROCTX_RESUME, {(void (*)(void))resume_of_table_0, (void (*)(void))resume_of_table_1}},
};

const struct table_layout roctx_control_layout = {slots, ROCTX_CONTROL_COUNT};

struct table_door roctx_control_table = {
	.name = "roctx.control",
	.major_first = 0,
	.major_last = 1,
	.nexts = {nexts[DOOR_TABLE], nexts[DOOR_TABLE + 1]},
	.state = {.lock = PTHREAD_MUTEX_INITIALIZER},
};
