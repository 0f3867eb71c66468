/* The entry points of the injected library that belong to no vendor: its constructor and
 * destructor, and the table of functions for libdagtap (base/inject.h). */
#include <dlfcn.h>

#include "base/inject.h"
#include "capture/call_observer.h"
#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/doors.h"
#include "capture/env.h"
#include "capture/hip/hip_source.h"
#include "capture/process_recordings.h"
#include "capture/rccl/rccl.h"
#include "capture/roctx_source.h"
#include "capture/scope.h"
#include "capture/steady_clock.h"
#include "capture/symbol.h"
#include "capture/visible.h"

static uint64_t push_scope(const char *text)
{
	return scope_push(RECORD_SCOPE_DAGTAP, text);
}

static void pop_scope(void)
{
	scope_pop(RECORD_SCOPE_DAGTAP);
}

static uint64_t push_scope_with(const char *text, const struct dagtap_attribute *attributes,
				size_t count)
{
	return scope_push_with(RECORD_SCOPE_DAGTAP, text, attributes, count);
}

static void end_step(void)
{
	scope_pop(RECORD_SCOPE_STEP);
}

static int start_session(void)
{
	return switch_is_armed() ? switch_start("dagtap_session_start") : session_start_again();
}

static void stop_session(void)
{
	if (switch_is_armed())
		switch_stop("dagtap_session_stop");
	else
		session_stop();
}

static int is_recording(void)
{
	return session_is_on();
}

static void put_note(const char *text)
{
	if (session_is_on())
		session_note(text);
}

static void observe(const struct inject_observer *observer)
{
	atomic_store_explicit(&call_observer, observer, memory_order_release);
}

CAPTURE_EXPORT const struct inject_table dagtap_inject_v1 = {
	.bytes = sizeof(dagtap_inject_v1),
	.scope_push = push_scope,
	.scope_pop = pop_scope,
	.start = start_session,
	.is_recording = is_recording,
	.stop = stop_session,
	.note = put_note,
	.scope_push_with = push_scope_with,
	.step_begin = scope_step_begin,
	.step_end = end_step,
	.scope_path = scope_path,
	.scope_attach = scope_attach,
	.scope_detach = scope_detach,
	.path = recording_path,
	.observe = observe,
	.call_bytes = sizeof(struct inject_call),
	.mark_bytes = sizeof(struct inject_mark),
};

/* Hands the table to a libdagtap that was loaded before us, or that cannot find our symbols
 * because we were loaded by HSA_TOOLS_LIB alone. */
static void attach_annotations(void)
{
	void *library = dlopen(ANNOTATE_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
	attach_function *attach;

	if (!library)
		return;
	attach = (attach_function *)dlsym(library, ATTACH_SYMBOL);
	if (attach)
		attach(&dagtap_inject_v1);
	dlclose(library);
}

static void take_settings(void *address)
{
	const struct inject_settings *const *settings = address;

	if (*settings && (*settings)->bytes >= sizeof(**settings))
		env_take_settings(*settings);
}

__attribute__((constructor)) static void library_loaded(void)
{
	/* Of the library that is loading this one. `dagtap record` uses the environment. */
	if (!env_is_set(ENV_RECORDER))
		symbol_visit(SETTINGS_SYMBOL, take_settings);
	session_arm();
	switch_configure();
	session_add_source(&steady_clock_source);
	session_add_source(&hip_source);
	session_add_source(&rccl_source);
	session_add_source(&roctx_source);
	if (session_state != SESSION_OFF)
		attach_annotations();
}

/* For programs that do not run exit's handlers but run destructors. After exit's handlers it
 * does nothing. */
__attribute__((destructor)) static void library_unloaded(void)
{
	session_end();
	doors_close();
}
