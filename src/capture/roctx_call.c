/* Calls of roctx: see roctx_call.h. */
#include "capture/roctx_call.h"

#include "capture/mark_observer.h"
#include "capture/symbol.h"

/* The thread is in the wrapper of a symbol; the wrapper of the table's slot may be entered next. */
static __thread bool is_under_way __attribute__((tls_model("initial-exec")));

void *roctx_call_next(void *_Atomic *next, unsigned int door, const char *symbol)
{
	static const char *const sonames[] = {"librocprofiler-sdk-roctx.so.1",
					      "librocprofiler-sdk-roctx.so.0", NULL};
	void *found = atomic_load_explicit(next, memory_order_relaxed);

	if (found || door != DOOR_SYMBOL)
		return found;
	found = symbol_next(symbol, sonames);
	atomic_store_explicit(next, found, memory_order_relaxed);
	return found;
}

bool roctx_call_enter(unsigned int door, struct inject_mark *ret_mark,
		      enum inject_mark_function function, const char *message, uint64_t argument)
{
	bool is_first = door == DOOR_SYMBOL || !is_under_way;

	is_under_way = false;
	ret_mark->cid = 0;
	if (!is_first)
		return false;
	mark_enter(ret_mark, function, message, argument);
	is_under_way = door == DOOR_SYMBOL;
	return true;
}

void roctx_call_passed(void)
{
	is_under_way = false;
}

void roctx_call_leave(struct inject_mark *mark, uint64_t result)
{
	is_under_way = false;
	mark_leave(mark, result);
}
