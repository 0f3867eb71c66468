/* Starts a tool that does not configure itself: see first_call.h. Where `dagtap record` records the
 * process it does so at the first recorded call of HIP: before that, the constructors of the tool's
 * library may not have run. Its initialize runs inside of this call, of which the tool gets
 * callbacks and a record. */
#include "sdk/first_call.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/inject.h"
#include "sdk/calls.h"
#include "sdk/found_tool.h"
#include "sdk/injected.h"
#include "sdk/other_sdk.h"
#include "sdk/sdk_export.h"
#include "sdk/table_doors.h"

static atomic_flag is_sought = ATOMIC_FLAG_INIT;

/* Looks for a tool. Returns whether there is one, which has been configured. */
static bool configure_found(void)
{
	sdk_configure *found = other_sdk_find(NULL, 0) ? NULL : found_tool();

	/* Does nothing if the tool has configured itself meanwhile. */
	return found && rocprofiler_force_configure(found) == SDK_SUCCESS;
}

void first_call_seek(void)
{
	if (!injected_find() && !atomic_flag_test_and_set(&is_sought))
		configure_found();
}

static void seek(const struct inject_call *call)
{
	if (atomic_flag_test_and_set(&is_sought))
		return;
	sdk_calls_await(NULL);
	other_sdk_note(false);
	if (configure_found())
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

	if (injected_find())
		sdk_calls_await(&seeker);
	else if (found_tool_is_there())
		table_doors_open();
}
