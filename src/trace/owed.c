/* What calls of HIP must cause (see owed.h). */
#include "trace/owed.h"

#include <string.h>

#include "trace/process.h"

#define PARENT_DEPTH_MAX 64

/* Names of kernel launches contain "Launch". So do those of graph launches, whose activities follow
 * from their graph, and of host functions, which launch nothing. */
static bool is_kernel_launch(const char *name)
{
	return strstr(name, "Launch") && !strstr(name, "Graph") && !strstr(name, "HostFunc");
}

static void add_size(struct owed_api *owed, uint32_t word, uint8_t shift)
{
	if (owed->size_count == OWED_SIZES_MOST)
		return;
	owed->sizes[owed->size_count].word = (uint8_t)word;
	owed->sizes[owed->size_count].shift = shift;
	owed->size_count++;
}

/* The names of sizes end alike in all launches: gridDimX, globalWorkSizeX, blockDimX,
 * localWorkSizeX. */
static bool is_size(const char *name)
{
	return strstr(name, "DimX") || strstr(name, "DimY") || strstr(name, "DimZ") ||
	       strstr(name, "WorkSize");
}

static void add_sizes(struct owed_api *owed, const struct trace_api_arg *arg, const char *name)
{
	if (arg->kind == 'd') {
		add_size(owed, arg->word, 0);
		add_size(owed, arg->word, 32);
		add_size(owed, arg->word + 1, 0);
	} else if (arg->kind == 'u' && is_size(name)) {
		add_size(owed, arg->word, 0);
	}
}

struct owed_api owed_api_of(const struct trace *trace, const struct trace_api *api)
{
	struct owed_api owed = {.count_word = OWED_ONE};

	owed.is_launch =
		api->domain == RECORD_DOMAIN_HIP && is_kernel_launch(trace_text(trace, api->name));
	for (uint32_t i = 0; i < api->arg_count && owed.is_launch; i++) {
		const struct trace_api_arg *arg = &trace->api_args[api->arg_first + i];
		const char *name = trace_text(trace, arg->name);

		if (!strcmp(name, "numDevices"))
			owed.count_word = arg->word;
		else
			add_sizes(&owed, arg, name);
	}
	return owed;
}

uint8_t owed_by(const struct owed_api *api, const struct record_api *record)
{
	uint32_t words = record->header.words - sizeof(*record) / 8;
	uint32_t count = 1;

	if (!api->is_launch || record->result != 0)
		return 0;
	for (uint32_t i = 0; i < api->size_count; i++) {
		if (api->sizes[i].word < words &&
		    !(uint32_t)(record->args[api->sizes[i].word] >> api->sizes[i].shift))
			return 0;
	}
	if (api->count_word < words)
		count = (uint32_t)record->args[api->count_word];
	return count < UINT8_MAX ? (uint8_t)count : UINT8_MAX;
}

void owed_settle(struct process_load *load)
{
	const struct raw_list *recorded = &load->lists[RECORD_NODE_RECORDED];
	const struct trace_call *calls = load->trace->calls;

	/* Also if the inner launch was captured. */
	for (uint32_t i = 0; i < load->cids.count; i++) {
		uint32_t outer = calls[load->first.calls + i].parent;

		for (int depth = 0;
		     load->owed[i] && outer != TRACE_NONE && depth < PARENT_DEPTH_MAX; depth++) {
			load->owed[outer - load->first.calls] = 0;
			outer = calls[outer].parent;
		}
	}
	for (uint32_t i = 0; i < recorded->count; i++) {
		const struct record_node_recorded *record = recorded->rows[i].record;
		uint32_t call = load_find_call(load, record->cid);

		if (call != TRACE_NONE)
			load->owed[call - load->first.calls] = 0;
	}
}
