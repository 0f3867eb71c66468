/* The observer that marks changes in dagtap's trace. Only libdagtap's header is used: its
 * functions are looked up in the process, and called if the program has them. */
#include <dlfcn.h>
#include <pthread.h>

#include <dagpatch/dagpatch.h>
#include <dagtap/annotate.h>

#include "patch/describe.h"

static struct {
	uint64_t (*push_with)(const char *, const struct dagtap_attribute *, size_t);
	void (*pop)(void);
} trace;

static pthread_once_t is_looked_up = PTHREAD_ONCE_INIT;

static void look_up(void)
{
	void *push_with = dlsym(RTLD_DEFAULT, "dagtap_scope_push_with");
	void *pop = dlsym(RTLD_DEFAULT, "dagtap_scope_pop");

	if (!push_with || !pop)
		return;
	*(void **)&trace.push_with = push_with;
	*(void **)&trace.pop = pop;
}

static void mark(const struct dagpatch_change *change)
{
	struct dagtap_attribute attributes[] = {
		dagtap_attribute_uint64("recording", (uintptr_t)change->recording),
		dagtap_attribute_uint64("slot", change->slot),
		dagtap_attribute_uint64("old_address", change->old_address),
		dagtap_attribute_uint64("new_address", change->new_address),
		dagtap_attribute_text("strategy", strategy_text(change->strategy)),
		dagtap_attribute_uint64("ns", change->ns),
		dagtap_attribute_uint64("node", change->node),
		dagtap_attribute_uint64("byte", change->byte),
	};
	size_t count = sizeof(attributes) / sizeof(*attributes);

	/* A change by the table concerns all nodes of the slot: it has no node and no byte. */
	trace.push_with("dagpatch", attributes, change->node == DAGPATCH_NONE ? count - 2 : count);
	trace.pop();
}

void dagpatch_observe_in_trace(void *user, const struct dagpatch_change *change)
{
	(void)user;
	pthread_once(&is_looked_up, look_up);
	if (change && trace.push_with)
		mark(change);
}
