/* The first stage: what other rows refer to: threads, agents, queues, API names, kernels. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/demangle.h"
#include "trace/load/blit.h"
#include "trace/load/registers.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

static uint64_t by_tag(const struct raw *row)
{
	return ((const struct record_header *)row->record)->tag;
}

static uint64_t by_ns_function(const struct raw *row)
{
	return ((const struct record_function *)row->record)->ns;
}

static uint64_t by_handle_function(const struct raw *row)
{
	return ((const struct record_function *)row->record)->handle;
}

/* Every chunk that a thread wrote has a record of it; the first one with a name gives the name. */
static int load_threads(struct process_load *load)
{
	struct raw_list *list = &load->raw.lists[RECORD_THREAD];
	struct trace_thread *rows, *row = NULL;
	uint32_t used = 0;

	if (raw_sort(list, by_tag) < 0)
		return -ENOMEM;
	rows = trace_extend(load->trace, threads, list->count);
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_thread *record = list->rows[i].record;

		if (!row || row->tid != record->header.tag) {
			row = &rows[used++];
			*row = (struct trace_thread){
				.process = load->process,
				.tid = record->header.tag,
			};
		}
		if (!row->name)
			row->name = strtab_intern_field(load->strings, record->name,
							sizeof(record->name));
	}
	load->trace->threads_count -= list->count - used;
	return 0;
}

/* Sets where the GPU is and how fast; records of older versions are shorter and do not tell. */
static void place_agent(struct trace_agent *row, const struct record_agent *record)
{
	if (record->header.words * 8u < RECORD_AGENT_LOCATED)
		return;
	row->has_location = record->has_location;
	row->pci_domain = record->pci_domain;
	row->pci_location = record->pci_location;
	row->driver_id = record->driver_id;
	if (record->header.words * 8u < sizeof(*record))
		return;
	row->memory_bytes_per_s = record->memory_bytes_per_s;
	row->clock_khz = record->clock_khz;
}

static int load_agents(struct process_load *load)
{
	struct raw_list *list = &load->raw.lists[RECORD_AGENT];
	struct trace_agent *rows;
	uint32_t used = 0;

	if (raw_sort(list, by_tag) < 0)
		return -ENOMEM;
	rows = trace_extend(load->trace, agents, list->count);
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_agent *record = list->rows[i].record;

		if (used && rows[used - 1].index == record->header.tag)
			continue;
		rows[used++] = (struct trace_agent){
			.process = load->process,
			.index = record->header.tag,
			.handle = record->handle,
			.is_gpu = record->is_gpu,
			.gpu_ordinal = record->gpu_ordinal,
			.name = strtab_intern_field(load->strings, record->name,
						    sizeof(record->name)),
			.product = strtab_intern_field(load->strings, record->product,
						       sizeof(record->product)),
			.uuid = strtab_intern_field(load->strings, record->uuid,
						    sizeof(record->uuid)),
			.memory_bytes = record->memory_bytes,
			.compute_units = record->compute_units,
			.wave_size = record->wave_size,
		};
		place_agent(&rows[used - 1], record);
	}
	load->trace->agents_count -= list->count - used;
	return 0;
}

static int compare_agents(const void *left, const void *right)
{
	const struct trace_agent *a = left, *b = right;

	return a->index < b->index ? -1 : a->index > b->index;
}

/* CUPTI describes a device when it makes the device's first context, and not to a recording that
 * starts later. Adds an agent, of which nothing else is known, for each device that worked and is
 * not described. */
static int add_undescribed_devices(struct process_load *load)
{
	struct trace *trace = load->trace;
	uint64_t missing = load->cuda.devices;
	struct trace_agent *rows;

	for (uint32_t i = load->first.agents; i < trace->agents_count; i++) {
		uint32_t device = trace->agents[i].index - RECORD_CUDA_AGENT_FIRST;

		if (device < 64)
			missing &= ~(1ull << device);
	}
	rows = trace_extend(trace, agents, (uint64_t)__builtin_popcountll(missing));
	if (!rows)
		return -ENOMEM;
	for (; missing; missing &= missing - 1) {
		uint32_t device = (uint32_t)__builtin_ctzll(missing);

		*rows++ = (struct trace_agent){
			.process = load->process,
			.index = RECORD_CUDA_AGENT_FIRST + device,
			.handle = RECORD_CUDA_AGENT_FIRST + device,
			.is_gpu = true,
			.gpu_ordinal = device,
		};
	}
	rows = &trace->agents[load->first.agents];
	if (trace->agents_count > load->first.agents)
		qsort(rows, trace->agents_count - load->first.agents, sizeof(*rows),
		      compare_agents);
	return 0;
}

static int load_queues(struct process_load *load)
{
	struct raw_list *list = &load->raw.lists[RECORD_QUEUE];
	struct trace_queue *rows;
	uint32_t used = 0;

	if (raw_sort(list, by_tag) < 0)
		return -ENOMEM;
	rows = trace_extend(load->trace, queues, list->count);
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_queue *record = list->rows[i].record;

		if (used && rows[used - 1].id == record->header.tag)
			continue;
		rows[used++] = (struct trace_queue){
			.process = load->process,
			.id = record->header.tag,
			.agent = load_find_agent(load, record->agent),
			.handle = record->handle,
			.size = record->size,
			.mode = record->mode,
		};
	}
	load->trace->queues_count -= list->count - used;
	return 0;
}

/* Reads the arguments of an API, "dst:p sizeBytes:s": each argument's name and kind. A dim3 takes
 * two words. */
static int load_api_args(struct process_load *load, struct trace_api *api, const char *text,
			 const char *end)
{
	unsigned word = 0;

	api->arg_first = load->trace->api_args_count;
	while (text < end) {
		const char *space = memchr(text, ' ', (size_t)(end - text));
		const char *stop = space ? space : end;
		const char *colon = memrchr(text, ':', (size_t)(stop - text));
		struct trace_api_arg *arg;

		if (colon && colon + 1 < stop && word < UINT8_MAX) {
			arg = trace_add(load->trace, api_args);
			if (!arg)
				return -ENOMEM;
			arg->name = strtab_intern(load->strings, text, (size_t)(colon - text));
			arg->kind = colon[1];
			arg->word = (uint8_t)word;
			word += arg->kind == 'd' ? 2 : 1;
			api->arg_count++;
		}
		text = stop + 1;
	}
	api->arg_words = word;
	return 0;
}

static int load_apis(struct process_load *load)
{
	struct raw_list *list = &load->raw.lists[RECORD_API_NAME];
	struct trace_api *rows;
	uint32_t used = 0;

	if (raw_sort(list, by_tag) < 0)
		return -ENOMEM;
	rows = trace_extend(load->trace, apis, list->count);
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_api_name *record = list->rows[i].record;
		const char *end = record->text + record->text_bytes;
		const char *space = memchr(record->text, ' ', record->text_bytes);
		const char *stop = space ? space : end;
		struct trace_api *api = &rows[used];

		if (used && rows[used - 1].function == record->header.tag)
			continue;
		*api = (struct trace_api){
			.process = load->process,
			.function = record->header.tag,
			.name = strtab_intern(load->strings, record->text,
					      (size_t)(stop - record->text)),
			.domain = record->domain,
		};
		if (space && load_api_args(load, api, space + 1, end) < 0)
			return -ENOMEM;
		used++;
	}
	load->trace->apis_count -= list->count - used;
	return 0;
}

static void count_registers(const struct process_load *load, const struct record_kernel *record,
			    struct load_kernel *kernel)
{
	uint32_t agent = load_find_agent(load, record->agent);
	const char *architecture;

	if (agent == TRACE_NONE)
		return;
	architecture = load->strings->strings[load->trace->agents[agent].name];
	kernel->registers = registers_of_kernel(architecture, record->rsrc1, record->properties);
	kernel->scalar_registers = scalar_registers_of_kernel(architecture, record->rsrc1);
	kernel->mode = wave_mode_of_kernel(architecture, record->rsrc1, record->properties);
}

/* Call after load_agents: the architecture tells how to read a kernel's descriptor. */
static int load_kernels(struct process_load *load)
{
	struct raw_list *list = &load->raw.lists[RECORD_KERNEL];

	if (raw_sort(list, by_tag) < 0)
		return -ENOMEM;
	load->kernels = calloc((size_t)list->count + 1, sizeof(*load->kernels));
	if (!load->kernels)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_kernel *record = list->rows[i].record;
		struct load_kernel *kernel = &load->kernels[load->kernel_count];

		if (load->kernel_count && kernel[-1].id == record->header.tag)
			continue;
		kernel->id = record->header.tag;
		kernel->symbol = strtab_intern(load->strings, record->name, record->name_bytes);
		kernel->name = demangle_intern(load->strings, record->name, record->name_bytes);
		kernel->blit = blit_find(load->strings->strings[kernel->symbol], &kernel->kind);
		count_registers(load, record, kernel);
		load->kernel_count++;
	}
	raw_release(list);
	return 0;
}

int catalog_load(struct process_load *load)
{
	int result;

	load->raw.functions = load->raw.lists[RECORD_FUNCTION];
	load->raw.lists[RECORD_FUNCTION] = (struct raw_list){0};
	result = raw_sort(&load->raw.functions, by_ns_function);
	if (result == 0)
		result = raw_sort(&load->raw.functions, by_handle_function);
	if (result == 0)
		result = load_threads(load);
	if (result == 0)
		result = load_agents(load);
	if (result == 0)
		result = add_undescribed_devices(load);
	if (result == 0)
		result = load_kernels(load);
	if (result == 0)
		result = load_queues(load);
	return result == 0 ? load_apis(load) : result;
}
