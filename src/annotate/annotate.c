/* libdagtap. Each public function calls the function of the same purpose in the table of the
 * injected library (base/inject.h), and does nothing if that library is not in the process. The
 * contracts are in dagtap/annotate.h and dagtap/session.h. */
#include <dagtap/annotate.h>
#include <dagtap/session.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/inject.h"

#define EXPORT __attribute__((visibility("default")))

/* The injected library's table. NULL until that library is found. Set by find_injected_library when
 * libdagtap is loaded, or later by the injected library through dagtap_attach. */
static _Atomic(const struct inject_table *) attached;

void dagtap_attach(const struct inject_table *table);

/* Ignores a table of an older injected library, which lacks functions. */
EXPORT void dagtap_attach(const struct inject_table *table)
{
	if (table->bytes >= sizeof(*table))
		atomic_store_explicit(&attached, table, memory_order_release);
}

__attribute__((constructor)) static void find_injected_library(void)
{
	const struct inject_table *table = dlsym(RTLD_DEFAULT, INJECT_SYMBOL);

	if (table)
		dagtap_attach(table);
}

static inline const struct inject_table *recorder(void)
{
	/* Relaxed is enough: the table is constant, and loads through the pointer depend
	 * on it. */
	return atomic_load_explicit(&attached, memory_order_relaxed);
}

EXPORT uint64_t dagtap_scope_push(const char *text)
{
	const struct inject_table *table = recorder();

	return table ? table->scope_push(text) : 0;
}

EXPORT void dagtap_scope_pop(void)
{
	const struct inject_table *table = recorder();

	if (table)
		table->scope_pop();
}

EXPORT uint64_t dagtap_scope_push_with(const char *text, const struct dagtap_attribute *attributes,
				       size_t count)
{
	const struct inject_table *table = recorder();

	return table ? table->scope_push_with(text, attributes, count) : 0;
}

EXPORT uint64_t dagtap_step_begin(const char *name, int64_t number)
{
	const struct inject_table *table = recorder();

	return table ? table->step_begin(name, number) : 0;
}

EXPORT void dagtap_step_end(void)
{
	const struct inject_table *table = recorder();

	if (table)
		table->step_end();
}

EXPORT size_t dagtap_scope_path(uint64_t *ret_ids, size_t room)
{
	const struct inject_table *table = recorder();

	return table ? table->scope_path(ret_ids, room) : 0;
}

EXPORT void dagtap_scope_attach(const uint64_t *ids, size_t count)
{
	const struct inject_table *table = recorder();

	if (table)
		table->scope_attach(ids, count);
}

EXPORT void dagtap_scope_detach(void)
{
	const struct inject_table *table = recorder();

	if (table)
		table->scope_detach();
}

EXPORT int dagtap_session_start(void)
{
	const struct inject_table *table = recorder();

	return table ? table->start() : 0;
}

EXPORT int dagtap_session_is_recording(void)
{
	const struct inject_table *table = recorder();

	return table ? table->is_recording() : 0;
}

EXPORT void dagtap_session_stop(void)
{
	const struct inject_table *table = recorder();

	if (table)
		table->stop();
}

EXPORT size_t dagtap_session_path(char *ret_path, size_t room)
{
	const struct inject_table *table = recorder();

	return table ? table->path(ret_path, room) : 0;
}

EXPORT void dagtap_session_note(const char *text)
{
	const struct inject_table *table = recorder();

	if (table && text)
		table->note(text);
}
