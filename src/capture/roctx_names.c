/* The wrappers of roctx's functions that give names; see roctx_names.h. */
#include "capture/roctx_names.h"

#include <stdint.h>

#include "capture/roctx_call.h"
#include "capture/visible.h"

int roctxNameOsThread(const char *name);
int roctxNameHsaAgent(const char *name, const void *agent);
int roctxNameHipDevice(const char *name, int device);
int roctxNameHipStream(const char *name, const void *stream);

enum name_function { ROCTX_THREAD, ROCTX_AGENT, ROCTX_DEVICE, ROCTX_STREAM, ROCTX_NAMES_COUNT };

static void *_Atomic nexts[DOOR_COUNT][ROCTX_NAMES_COUNT];

static void *next_at(unsigned int door, enum name_function function)
{
	static const char *const symbols[ROCTX_NAMES_COUNT] = {
		"roctxNameOsThread", "roctxNameHsaAgent", "roctxNameHipDevice",
		"roctxNameHipStream"};

	return roctx_call_next(&nexts[door][function], door, symbols[function]);
}

/* All return what the real roctx returns, and 0 without one. */
static int thread_at(unsigned int door, const char *name)
{
	int (*next)(const char *) = next_at(door, ROCTX_THREAD);
	struct inject_mark mark;
	int result;

	roctx_call_enter(door, &mark, INJECT_NAME_THREAD, name, 0);
	result = next ? next(name) : 0;
	roctx_call_leave(&mark, (uint64_t)result);
	return result;
}

static int device_at(unsigned int door, const char *name, int device)
{
	int (*next)(const char *, int) = next_at(door, ROCTX_DEVICE);
	struct inject_mark mark;
	int result;

	roctx_call_enter(door, &mark, INJECT_NAME_DEVICE, name, (uint64_t)device);
	result = next ? next(name, device) : 0;
	roctx_call_leave(&mark, (uint64_t)result);
	return result;
}

/* FUNCTION gives a name to what OBJECT points to. */
static int object_at(unsigned int door, enum name_function function, const char *name,
		     const void *object)
{
	int (*next)(const char *, const void *) = next_at(door, function);
	struct inject_mark mark;
	int result;

	roctx_call_enter(door, &mark,
			 function == ROCTX_AGENT ? INJECT_NAME_AGENT : INJECT_NAME_STREAM, name,
			 (uintptr_t)object);
	result = next ? next(name, object) : 0;
	roctx_call_leave(&mark, (uint64_t)result);
	return result;
}

CAPTURE_EXPORT int roctxNameOsThread(const char *name)
{
	return thread_at(DOOR_SYMBOL, name);
}

CAPTURE_EXPORT int roctxNameHsaAgent(const char *name, const void *agent)
{
	return object_at(DOOR_SYMBOL, ROCTX_AGENT, name, agent);
}

CAPTURE_EXPORT int roctxNameHipDevice(const char *name, int device)
{
	return device_at(DOOR_SYMBOL, name, device);
}

CAPTURE_EXPORT int roctxNameHipStream(const char *name, const void *stream)
{
	return object_at(DOOR_SYMBOL, ROCTX_STREAM, name, stream);
}

#define OF_TABLE(table)                                                                            \
	static int thread_of_table_##table(const char *name)                                       \
	{                                                                                          \
		return thread_at(DOOR_TABLE + table, name);                                        \
	}                                                                                          \
	static int agent_of_table_##table(const char *name, const void *agent)                     \
	{                                                                                          \
		return object_at(DOOR_TABLE + table, ROCTX_AGENT, name, agent);                    \
	}                                                                                          \
	static int device_of_table_##table(const char *name, int device)                           \
	{                                                                                          \
		return device_at(DOOR_TABLE + table, name, device);                                \
	}                                                                                          \
	static int stream_of_table_##table(const char *name, const void *stream)                   \
	{                                                                                          \
		return object_at(DOOR_TABLE + table, ROCTX_STREAM, name, stream);                  \
	}
OF_TABLE(0)
OF_TABLE(1)
_Static_assert(DOOR_TABLES == 2, "one wrapper a table");

static const struct table_slot slots[ROCTX_NAMES_COUNT] = {
	{ROCTX_THREAD, {(void (*)(void))thread_of_table_0, (void (*)(void))thread_of_table_1}},
	{ROCTX_AGENT, {(void (*)(void))agent_of_table_0, (void (*)(void))agent_of_table_1}},
	{ROCTX_DEVICE, {(void (*)(void))device_of_table_0, (void (*)(void))device_of_table_1}},
	{ROCTX_STREAM, {(void (*)(void))stream_of_table_0, (void (*)(void))stream_of_table_1}},
};

const struct table_layout roctx_names_layout = {slots, ROCTX_NAMES_COUNT};

struct table_door roctx_names_table = {
	.name = "roctx.names",
	.major_first = 0,
	.major_last = 1,
	.nexts = {nexts[DOOR_TABLE], nexts[DOOR_TABLE + 1]},
	.state = {.lock = PTHREAD_MUTEX_INITIALIZER},
};
