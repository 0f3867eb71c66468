/* Reads the options and arms the switch with scopes and doors; see capture_switch.h. */
#include "capture/switch_arm.h"

#include <stdatomic.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/doors.h"
#include "capture/switch_options.h"
#include "capture/switch_scopes.h"

static void forget_parent(void)
{
	doors_forget_parent();
	switch_scopes_forget_parent();
}

void switch_configure(void)
{
	static const struct switch_parts parts = {.thread_ended = switch_scopes_thread_ended,
						  .forget_parent = forget_parent,
						  .settled = doors_open};
	static _Atomic bool is_configured;
	char scope_name[RECORD_CAPTURE_RANGE_BYTES];
	struct switch_options options;
	bool has_doors;

	if (!session_may_record() || atomic_exchange(&is_configured, true))
		return;
	switch_options_read(&options, scope_name);
	has_doors = doors_configure();
	if (options.is_waiting || options.has_scope || options.delay_ns || options.duration_ns ||
	    has_doors)
		switch_arm(&options, scope_name, &parts);
}
