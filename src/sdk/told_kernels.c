/* Ids of kernels: see told_kernels.h. */
#include "sdk/told_kernels.h"

#include <stdio.h>

#include "base/strtab.h"
#include "base/table.h"
#include "record/record_types.h"
#include "sdk/sdk_contexts.h"

#define SUFFIX ".kd" /* of HSA's names of kernels */

/* Names, and symbols by the number of their name, which is their id; 0 is not used. */
static struct strtab names;
static struct sdk_kernel_symbol *symbols; /* owned */
static size_t symbols_room;
static uint32_t symbols_count; /* 0: there are no tables yet */
/* By context: it was told of the kernels below this number, but for number 0. */
static uint32_t told[SDK_CONTEXTS];

/* The last kernel of this window; id 0: none yet. */
static struct {
	uint32_t symbol;
	uint64_t id;
} last;

static bool wants_kernels(const struct sdk_context *context)
{
	return sdk_operations_have(&context->callbacks[SDK_CALLBACK_CODE_OBJECT].operations,
				   SDK_CODE_OBJECT_KERNEL_SYMBOL) &&
	       atomic_load(&context->span_count);
}

bool told_kernels_are_wanted(void)
{
	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++)
		if (wants_kernels(&sdk_contexts[i]))
			return true;
	return false;
}

static void tell(const struct sdk_context *context, struct sdk_kernel_symbol symbol)
{
	const struct sdk_callback_service *service = &context->callbacks[SDK_CALLBACK_CODE_OBJECT];
	const struct sdk_callback_record record = {
		.context = sdk_context_id(context),
		.kind = SDK_CALLBACK_CODE_OBJECT,
		.operation = SDK_CODE_OBJECT_KERNEL_SYMBOL,
		.phase = SDK_PHASE_ENTER,
		.payload = &symbol,
	};
	union sdk_user user = {0};

	service->callback(record, &user, service->data);
}

/* Tells each context of what it does not know. */
static void tell_all(void)
{
	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++) {
		if (told[i] >= symbols_count || !wants_kernels(&sdk_contexts[i]))
			continue;
		for (uint32_t kernel = told[i] ? told[i] : 1; kernel < symbols_count; kernel++)
			tell(&sdk_contexts[i], symbols[kernel]);
		told[i] = symbols_count;
	}
}

/* Adds KERNEL, and those before it for which there was no memory, without their sizes. Returns 0 or
 * -ENOMEM. */
static int add(uint32_t kernel, const struct trace_work *work)
{
	int err = table_reserve((void **)&symbols, &symbols_room, kernel + 1ull, sizeof(*symbols));

	if (err < 0)
		return err;
	for (; symbols_count <= kernel; symbols_count++)
		symbols[symbols_count] = (struct sdk_kernel_symbol){
			.size = sizeof(*symbols),
			.kernel = symbols_count,
			.name = names.strings[symbols_count],
		};
	symbols[kernel].group_bytes = work->group_bytes;
	symbols[kernel].private_bytes = work->private_bytes;
	symbols[kernel].sgprs = work->scalar_registers;
	symbols[kernel].vgprs = work->registers;
	return 0;
}

/* The number of WORK's symbol among the names; 0: out of memory. */
static uint32_t find(const struct trace *window, const struct trace_work *work)
{
	char name[RECORD_TEXT_MAX + sizeof(SUFFIX)];
	uint32_t kernel;

	if (!symbols_count && strtab_init(&names) == 0)
		symbols_count = 1;
	if (!symbols_count)
		return 0;
	snprintf(name, sizeof(name), "%s" SUFFIX, trace_text(window, work->symbol));
	kernel = strtab_intern_z(&names, name);
	return kernel && kernel >= symbols_count && add(kernel, work) < 0 ? 0 : kernel;
}

void told_kernels_begin_window(void)
{
	last.id = 0;
}

uint64_t told_kernels_id(const struct trace *window, const struct trace_work *work)
{
	if (!last.id || work->symbol != last.symbol) {
		last.id = find(window, work);
		last.symbol = work->symbol;
	}
	if (last.id)
		tell_all();
	return last.id;
}
