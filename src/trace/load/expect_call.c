/* What calls of HIP must cause (see expect_call.h). */
#include "trace/load/expect_call.h"

#include <string.h>

#include "trace/process_load.h"

/* Names of kernel launches contain "Launch". So do those of graph launches, whose activities follow
 * from their graph, and of host functions, which launch nothing. */
static bool is_kernel_launch(const char *name)
{
	return strstr(name, "Launch") && !strstr(name, "Graph") && !strstr(name, "HostFunc");
}

static void add_size(struct expect_call *expected, uint32_t word, uint8_t shift)
{
	if (expected->size_count == EXPECT_CALL_SIZES_MOST)
		return;
	expected->sizes[expected->size_count].word = (uint8_t)word;
	expected->sizes[expected->size_count].shift = shift;
	expected->size_count++;
}

/* The names of sizes end alike in all launches: gridDimX, globalWorkSizeX, blockDimX,
 * localWorkSizeX. */
static bool is_size(const char *name)
{
	return strstr(name, "DimX") || strstr(name, "DimY") || strstr(name, "DimZ") ||
	       strstr(name, "WorkSize");
}

static void add_sizes(struct expect_call *expected, const struct trace_api_arg *arg,
		      const char *name)
{
	if (arg->kind == 'd') {
		add_size(expected, arg->word, 0);
		add_size(expected, arg->word, 32);
		add_size(expected, arg->word + 1, 0);
	} else if (arg->kind == 'u' && is_size(name)) {
		add_size(expected, arg->word, 0);
	}
}

struct expect_call expect_call_of(const struct trace *trace, const struct trace_api *api)
{
	struct expect_call expected = {.count_word = EXPECT_CALL_ONE};

	expected.is_launch =
		api->domain == RECORD_DOMAIN_HIP && is_kernel_launch(trace_text(trace, api->name));
	for (uint32_t i = 0; i < api->arg_count && expected.is_launch; i++) {
		const struct trace_api_arg *arg = &trace->api_args[api->arg_first + i];
		const char *name = trace_text(trace, arg->name);

		if (!strcmp(name, "numDevices"))
			expected.count_word = arg->word;
		else
			add_sizes(&expected, arg, name);
	}
	return expected;
}

uint8_t expect_call_count(const struct expect_call *api, const struct record_api *record)
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

void expect_calls_settle(struct process_load *load)
{
	const struct raw_list *recorded = &load->raw.lists[RECORD_NODE_RECORDED];
	const struct trace_call *calls = load->trace->calls;

	/* Also if the inner launch was captured. */
	for (uint32_t i = 0; i < load->raw.cids.count; i++) {
		uint32_t outer;

		if (!load->tally.expected[i])
			continue;
		outer = calls[load->first.calls + i].parent;
		for (int depth = 0; outer != TRACE_NONE && depth < TRACE_PARENTS_MOST; depth++) {
			load->tally.expected[outer - load->first.calls] = 0;
			outer = calls[outer].parent;
		}
	}
	for (uint32_t i = 0; i < recorded->count; i++) {
		const struct record_node_recorded *record = recorded->rows[i].record;
		uint32_t call = load_find_call(load, record->cid);

		if (call != TRACE_NONE)
			load->tally.expected[call - load->first.calls] = 0;
	}
}
