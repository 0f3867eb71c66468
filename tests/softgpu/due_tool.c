/* A tool whose handlers are due when the runtime shuts down: the conditions of all of them hold
 * from the start, and the first handler waits until OnUnload (due_tool.h). */
#include "due_tool.h"

#include <stdbool.h>

#include "vendor/hsa_tables.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_count,
		   const char *const *failed_names);
EXPORT void OnUnload(void);

static struct hsa_core_table core;
static hsa_signal_t signals[DUE_HANDLERS];

static bool run(hsa_signal_value_t value, void *argument)
{
	hsa_signal_t *signal = argument;

	if (signal == signals)
		while (sem_wait(&due_story.unloading))
			;
	due_story.signals_destroyed += core.hsa_signal_destroy_fn(*signal) == HSA_STATUS_SUCCESS;
	atomic_fetch_add(&due_story.ran, 1);
	return false;
}

bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_count,
	    const char *const *failed_names)
{
	core = *table->core;
	for (int i = 0; i < DUE_HANDLERS; i++)
		if (table->amd_ext->hsa_amd_signal_create_fn(0, 0, NULL, 0, &signals[i]) ||
		    table->amd_ext->hsa_amd_signal_async_handler_fn(
			    signals[i], HSA_SIGNAL_CONDITION_LT, 1, run, &signals[i]))
			return false;
	due_story.loads++;
	return true;
}

void OnUnload(void)
{
	sem_post(&due_story.unloading);
}

__attribute__((destructor)) static void be_closed(void)
{
	due_story.closes++;
	due_story.ran_before_close = atomic_load(&due_story.ran);
}
