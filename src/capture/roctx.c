/* The C interface of AMD's libroctx64 (version 4.1: marks, nested ranges, ranges by id). Where a
 * real one is in the process every call goes on to it and its results are returned. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/export.h"
#include "capture/scope.h"

#define ROCTX_LIBRARY	    "libroctx64.so.4"
#define ROCTX_VERSION_MAJOR 4
#define ROCTX_VERSION_MINOR 1

uint32_t roctx_version_major(void);
uint32_t roctx_version_minor(void);
void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);

/* X(result, name, parameters) */
#define ROCTX_CALLS(X)                                                                             \
	X(uint32_t, roctx_version_major, (void))                                                   \
	X(uint32_t, roctx_version_minor, (void))                                                   \
	X(void, roctxMarkA, (const char *))                                                        \
	X(int, roctxRangePushA, (const char *))                                                    \
	X(int, roctxRangePop, (void))                                                              \
	X(uint64_t, roctxRangeStartA, (const char *))                                              \
	X(void, roctxRangeStop, (uint64_t))

static struct {
#define X(result, name, parameters) result(*name) parameters;
	ROCTX_CALLS(X)
#undef X
} next;

static pthread_once_t next_once = PTHREAD_ONCE_INIT;
static __thread int own_level __attribute__((tls_model("initial-exec")));

static void *find_next(void *library, const char *name, void *own)
{
	void *found = dlsym(RTLD_NEXT, name);

	if ((!found || found == own) && library)
		found = dlsym(library, name);
	return found == own ? NULL : found;
}

static void find_real_roctx(void)
{
	void *library = dlopen(ROCTX_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);

#define X(result, name, parameters)                                                                \
	next.name = (result(*) parameters)find_next(library, #name, (void *)name);
	ROCTX_CALLS(X)
#undef X
}

static void init_next(void)
{
	pthread_once(&next_once, find_real_roctx);
}

CAPTURE_EXPORT uint32_t roctx_version_major(void)
{
	init_next();
	return next.roctx_version_major ? next.roctx_version_major() : ROCTX_VERSION_MAJOR;
}

CAPTURE_EXPORT uint32_t roctx_version_minor(void)
{
	init_next();
	return next.roctx_version_minor ? next.roctx_version_minor() : ROCTX_VERSION_MINOR;
}

CAPTURE_EXPORT void roctxMarkA(const char *message)
{
	init_next();
	scope_mark(message);
	if (next.roctxMarkA)
		next.roctxMarkA(message);
}

/* The level of the range that begins, from 0. */
CAPTURE_EXPORT int roctxRangePushA(const char *message)
{
	init_next();
	scope_push(RECORD_SCOPE_ROCTX, message);
	if (next.roctxRangePushA)
		return next.roctxRangePushA(message);
	return own_level++;
}

/* The level of the range that ends; -1 when there is none. */
CAPTURE_EXPORT int roctxRangePop(void)
{
	init_next();
	scope_pop(RECORD_SCOPE_ROCTX);
	if (next.roctxRangePop)
		return next.roctxRangePop();
	return own_level > 0 ? --own_level : -1;
}

/* With a real roctx the program holds its ids, and the trace has them marked with the two top
 * bits, which no scope id of ours has. */
#define FOREIGN_RANGE ((uint64_t)3 << 62)

CAPTURE_EXPORT uint64_t roctxRangeStartA(const char *message)
{
	static _Atomic uint64_t last_unrecorded;
	uint64_t id;

	init_next();
	if (next.roctxRangeStartA) {
		id = next.roctxRangeStartA(message);
		scope_range_start_as(id | FOREIGN_RANGE, message);
		return id;
	}
	id = scope_range_start(message);
	return id ? id : ++last_unrecorded;
}

CAPTURE_EXPORT void roctxRangeStop(uint64_t id)
{
	init_next();
	scope_range_stop(next.roctxRangeStop ? id | FOREIGN_RANGE : id);
	if (next.roctxRangeStop)
		next.roctxRangeStop(id);
}
