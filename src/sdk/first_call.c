/* Starts a tool that does not configure itself, at the first recorded call of HIP: before that, the
 * constructors of its library may not have run. Its initialize runs inside of this call, of which
 * the tool gets callbacks and a record. */
#include <stdatomic.h>

#include "base/inject.h"
#include "sdk/calls.h"
#include "sdk/found_tool.h"
#include "sdk/sdk_export.h"

static void seek(const struct inject_call *call)
{
	static atomic_flag is_sought = ATOMIC_FLAG_INIT;
	sdk_configure *found;

	if (atomic_flag_test_and_set(&is_sought))
		return;
	found = found_tool();
	sdk_calls_await(NULL);
	/* Does nothing if the tool has configured itself meanwhile. */
	if (found && rocprofiler_force_configure(found) == SDK_SUCCESS)
		sdk_calls_enter(call);
}

static void pass_return(const struct inject_call *call)
{
	(void)call;
}

static void pass_mark(const struct inject_mark *mark)
{
	(void)mark;
}

__attribute__((constructor)) static void await_first_call(void)
{
	static const struct inject_observer seeker = {
		.enter = seek, .leave = pass_return, .mark = pass_mark};

	if (sdk_calls_find())
		sdk_calls_await(&seeker);
}
