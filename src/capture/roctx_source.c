/* The C interface of AMD's roctx (libroctx64, version 4.1, and rocprofiler-sdk's: marks, nested
 * ranges, ranges by id), through its symbols and its dispatch table. Where the process has a
 * real roctx library, every call goes on to it and its results are returned. */
#include "capture/roctx_source.h"

#include <stdbool.h>
#include <stdint.h>

#include "capture/roctx_call.h"
#include "capture/roctx_control.h"
#include "capture/roctx_names.h"
#include "capture/scope.h"
#include "capture/symbol.h"
#include "capture/visible.h"

#define ROCTX_VERSION_MAJOR 4
#define ROCTX_VERSION_MINOR 1

uint32_t roctx_version_major(void);
uint32_t roctx_version_minor(void);
void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);
int roctxGetThreadId(uint64_t *ret_tid);

enum roctx_function {
	ROCTX_VERSION_MAJOR_FUNCTION,
	ROCTX_VERSION_MINOR_FUNCTION,
	ROCTX_MARK,
	ROCTX_PUSH,
	ROCTX_POP,
	ROCTX_START,
	ROCTX_STOP,
	ROCTX_THREAD_ID,
	ROCTX_FUNCTION_COUNT
};

static void *_Atomic nexts[DOOR_COUNT][ROCTX_FUNCTION_COUNT];
/* The nesting of the thread's ranges, without a real roctx. */
static __thread int own_level __attribute__((tls_model("initial-exec")));

/* Returns the function behind FUNCTION at the entry point DOOR; NULL: none. That no library has a
 * symbol is remembered. */
static void *next_at(unsigned int door, enum roctx_function function)
{
	static const char *const symbols[ROCTX_FUNCTION_COUNT] = {
		"roctx_version_major", "roctx_version_minor", "roctxMarkA",	"roctxRangePushA",
		"roctxRangePop",       "roctxRangeStartA",    "roctxRangeStop", "roctxGetThreadId"};
	static const char *const sonames[] = {"libroctx64.so.4", "librocprofiler-sdk-roctx.so.1",
					      "librocprofiler-sdk-roctx.so.0", NULL};
	static _Atomic bool is_absent[ROCTX_FUNCTION_COUNT];
	void *next = atomic_load_explicit(&nexts[door][function], memory_order_relaxed);

	if (next || door != DOOR_SYMBOL || is_absent[function])
		return next;
	next = symbol_next(symbols[function], sonames);
	is_absent[function] = !next;
	atomic_store_explicit(&nexts[door][function], next, memory_order_relaxed);
	return next;
}

CAPTURE_EXPORT uint32_t roctx_version_major(void)
{
	uint32_t (*next)(void) = next_at(DOOR_SYMBOL, ROCTX_VERSION_MAJOR_FUNCTION);

	return next ? next() : ROCTX_VERSION_MAJOR;
}

CAPTURE_EXPORT uint32_t roctx_version_minor(void)
{
	uint32_t (*next)(void) = next_at(DOOR_SYMBOL, ROCTX_VERSION_MINOR_FUNCTION);

	return next ? next() : ROCTX_VERSION_MINOR;
}

static void mark_at(unsigned int door, const char *message)
{
	void (*next)(const char *) = next_at(door, ROCTX_MARK);
	struct inject_mark mark;

	if (roctx_call_enter(door, &mark, INJECT_MARK, message, 0))
		scope_mark(message);
	if (next)
		next(message);
	roctx_call_leave(&mark, 0);
}

/* Returns the level of the range that begins, from 0. */
static int push_at(unsigned int door, const char *message)
{
	int (*next)(const char *) = next_at(door, ROCTX_PUSH);
	struct inject_mark mark;
	int level;

	if (roctx_call_enter(door, &mark, INJECT_PUSH, message, 0))
		scope_push(RECORD_SCOPE_ROCTX, message);
	level = next ? next(message) : own_level++;
	roctx_call_leave(&mark, (uint64_t)level);
	return level;
}

/* Returns the level of the range that ends; -1: there is none. */
static int pop_at(unsigned int door)
{
	int (*next)(void) = next_at(door, ROCTX_POP);
	struct inject_mark mark;
	int level = -1;

	if (roctx_call_enter(door, &mark, INJECT_POP, NULL, 0))
		scope_pop(RECORD_SCOPE_ROCTX);
	if (next)
		level = next();
	else if (own_level > 0)
		level = --own_level;
	roctx_call_leave(&mark, (uint64_t)level);
	return level;
}

/* With a real roctx the program has the ids of that library. In the trace they get the two top
 * bits, which no scope id of ours has. */
#define FOREIGN_RANGE ((uint64_t)3 << 62)

/* Begins a range. Returns the program's id of it. */
static uint64_t start_range(uint64_t (*next)(const char *), bool is_first, const char *message)
{
	static _Atomic uint64_t last_unrecorded;
	uint64_t id;

	if (next) {
		id = next(message);
		roctx_call_passed();
		if (is_first)
			scope_range_start_as(id | FOREIGN_RANGE, message);
		return id;
	}
	roctx_call_passed();
	id = scope_range_start(message);
	return id ? id : ++last_unrecorded;
}

static uint64_t start_at(unsigned int door, const char *message)
{
	struct inject_mark mark;
	bool is_first = roctx_call_enter(door, &mark, INJECT_START, message, 0);
	uint64_t id = start_range(next_at(door, ROCTX_START), is_first, message);

	roctx_call_leave(&mark, id);
	return id;
}

static void stop_at(unsigned int door, uint64_t id)
{
	void (*next)(uint64_t) = next_at(door, ROCTX_STOP);
	struct inject_mark mark;

	if (roctx_call_enter(door, &mark, INJECT_STOP, NULL, id))
		scope_range_stop(next ? id | FOREIGN_RANGE : id);
	if (next)
		next(id);
	roctx_call_leave(&mark, 0);
}

/* Without a real roctx the id is the kernel's, as that library's is. */
static int thread_id_at(unsigned int door, uint64_t *ret_tid)
{
	int (*next)(uint64_t *) = next_at(door, ROCTX_THREAD_ID);
	struct inject_mark mark;
	int result = 0;

	roctx_call_enter(door, &mark, INJECT_THREAD_ID, NULL, (uintptr_t)ret_tid);
	if (next)
		result = next(ret_tid);
	else if (ret_tid)
		*ret_tid = session_tid();
	roctx_call_leave(&mark, (uint64_t)result);
	return result;
}

CAPTURE_EXPORT void roctxMarkA(const char *message)
{
	mark_at(DOOR_SYMBOL, message);
}

CAPTURE_EXPORT int roctxRangePushA(const char *message)
{
	return push_at(DOOR_SYMBOL, message);
}

CAPTURE_EXPORT int roctxRangePop(void)
{
	return pop_at(DOOR_SYMBOL);
}

CAPTURE_EXPORT uint64_t roctxRangeStartA(const char *message)
{
	return start_at(DOOR_SYMBOL, message);
}

CAPTURE_EXPORT void roctxRangeStop(uint64_t id)
{
	stop_at(DOOR_SYMBOL, id);
}

CAPTURE_EXPORT int roctxGetThreadId(uint64_t *ret_tid)
{
	return thread_id_at(DOOR_SYMBOL, ret_tid);
}

#define OF_TABLE(table)                                                                            \
	static void mark_of_table_##table(const char *message)                                     \
	{                                                                                          \
		mark_at(DOOR_TABLE + table, message);                                              \
	}                                                                                          \
	static int push_of_table_##table(const char *message)                                      \
	{                                                                                          \
		return push_at(DOOR_TABLE + table, message);                                       \
	}                                                                                          \
	static int pop_of_table_##table(void)                                                      \
	{                                                                                          \
		return pop_at(DOOR_TABLE + table);                                                 \
	}                                                                                          \
	static uint64_t start_of_table_##table(const char *message)                                \
	{                                                                                          \
		return start_at(DOOR_TABLE + table, message);                                      \
	}                                                                                          \
	static void stop_of_table_##table(uint64_t id)                                             \
	{                                                                                          \
		stop_at(DOOR_TABLE + table, id);                                                   \
	}                                                                                          \
	static int thread_id_of_table_##table(uint64_t *ret_tid)                                   \
	{                                                                                          \
		return thread_id_at(DOOR_TABLE + table, ret_tid);                                  \
	}
OF_TABLE(0)
OF_TABLE(1)
_Static_assert(DOOR_TABLES == 2, "one wrapper a table");

#define SLOT(function, verb)                                                                       \
	{                                                                                          \
		function,                                                                          \
		{                                                                                  \
			(void (*)(void)) verb##_of_table_0, (void (*)(void))verb##_of_table_1      \
		}                                                                                  \
	}

/* The table of marks and ranges, the first of the three tables that roctx hands over; the others
 * are those of roctx_control.h and roctx_names.h. */
static const struct table_slot slots[6] = {
	SLOT(ROCTX_MARK, mark),	  SLOT(ROCTX_PUSH, push), SLOT(ROCTX_POP, pop),
	SLOT(ROCTX_START, start), SLOT(ROCTX_STOP, stop), SLOT(ROCTX_THREAD_ID, thread_id)};

const struct table_layout roctx_table_layout = {slots, sizeof(slots) / sizeof(*slots)};

/* The versions are those of rocprofiler-sdk, which contains the library. */
struct table_door roctx_table = {
	.name = "roctx.table",
	.major_first = 0,
	.major_last = 1,
	.nexts = {nexts[DOOR_TABLE], nexts[DOOR_TABLE + 1]},
	.state = {.lock = PTHREAD_MUTEX_INITIALIZER},
};

static void start(void)
{
	table_tell(&roctx_table);
	table_tell(&roctx_control_table);
	table_tell(&roctx_names_table);
}

static void child(void)
{
	table_reset(&roctx_table);
	table_reset(&roctx_control_table);
	table_reset(&roctx_names_table);
}

const struct capture_source roctx_source = {.name = "roctx", .start = start, .child = child};
