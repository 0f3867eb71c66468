/* Turns a row of the file into a row of the model, or into a struct that becomes one later
 * (kineto_reader_load.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/kineto/kineto_reader_load.h"
#include "trace/row_table.h"

#define STEP_PREFIX "ProfilerStep#"

/* ---- args ---- */

static uint32_t clamped(int64_t value)
{
	if (value < 0)
		return 0;
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static uint64_t correlation_of(const struct kread_load *load)
{
	int64_t cid = kread_int_or(load, &load->event, KREAD_CORRELATION, 0);

	return cid > 0 ? (uint64_t)cid : 0;
}

static uint64_t external_of(const struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	int64_t old = kread_int_or(load, event, KREAD_OLD_EXTERNAL_ID, 0);

	return (uint64_t)kread_int_or(load, event, KREAD_EXTERNAL_ID, old);
}

#define EXTERNAL_ARGS (KREAD_ARG(KREAD_EXTERNAL_ID) | KREAD_ARG(KREAD_OLD_EXTERNAL_ID))
#define ID_ARGS	      (KREAD_ARG(KREAD_CORRELATION) | EXTERNAL_ARGS)
#define PLACE_ARGS    (ID_ARGS | KREAD_ARG(KREAD_DEVICE) | KREAD_ARG(KREAD_STREAM))
#define WORK_ARGS     (PLACE_ARGS | KREAD_ARG(KREAD_GRAPH_ID) | KREAD_ARG(KREAD_GRAPH_NODE_ID))

/* ---- the host ---- */

/* The row's thread, and its process in RET_PROCESS; or -ENOMEM. */
static int64_t thread_of(struct kread_load *load, uint32_t *ret_process)
{
	int64_t process = import_process(&load->import, load->event.pid);

	if (process < 0)
		return process;
	*ret_process = (uint32_t)process;
	return import_thread(&load->import, (uint32_t)process, load->event.tid, 0);
}

static int take_call(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	uint32_t process = 0;
	int64_t thread = thread_of(load, &process), api = -1;
	struct trace_call *row;
	uint64_t *external;

	if (thread >= 0)
		api = import_api(&load->import, process, event->name);
	row = api >= 0 ? import_call(&load->import) : NULL;
	external = table_add((void **)&load->call_externals, &load->call_externals_count,
			     sizeof(*external));
	if (!row || !external)
		return -ENOMEM;
	*external = external_of(load);
	row->cid = correlation_of(load);
	row->begin_ns = event->begin_ns;
	row->end_ns = event->begin_ns + event->duration_ns;
	row->process = process;
	row->thread = (uint32_t)thread;
	row->api = (uint32_t)api;
	if (kread_take_hip_call(load, process) < 0)
		return -ENOMEM;
	return import_set_call(&load->import, kread_attribute_set(load, ID_ARGS));
}

/* Operators, Python functions and annotations all become scopes; the attribute "cat" tells them
 * apart. A step of PyTorch's profiler is named "ProfilerStep#N". */
static int add_scope_attributes(struct kread_load *load, struct trace_scope *scope)
{
	const char *name = kread_string(load, load->event.name);
	struct trace_scope_attribute own[2] = {
		{.key = KREAD_CAT, .kind = RECORD_ATTRIBUTE_TEXT},
		{.kind = RECORD_ATTRIBUTE_INT64},
	};
	uint32_t own_count = 1;

	own[0].value.text = load->event.category;
	if (scope->kind == RECORD_SCOPE_STEP) {
		own[1].key = strtab_intern_z(load->import.strings, RECORD_STEP_KEY);
		own[1].value.int64 = strtoll(name + strlen(STEP_PREFIX), NULL, 10);
		own_count = 2;
	}
	scope->attribute_first = load->import.trace->scope_attributes_count;
	if (kread_keep_dimensions(load, 0) < 0 ||
	    import_attributes(&load->import, own, own_count) < 0)
		return -ENOMEM;
	scope->attribute_count = own_count + load->event.attribute_count;
	return import_attributes(&load->import, load->event.attributes,
				 load->event.attribute_count);
}

static enum record_scope_kind scope_kind(const struct kread_load *load)
{
	const char *name = kread_string(load, load->event.name);

	if (load->event.phase == 'i')
		return RECORD_SCOPE_MARK;
	return strncmp(name, STEP_PREFIX, strlen(STEP_PREFIX)) ? RECORD_SCOPE_DAGTAP
							       : RECORD_SCOPE_STEP;
}

static int take_scope(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	uint32_t process = 0;
	int64_t thread = thread_of(load, &process);
	struct trace_scope *row = thread >= 0 ? trace_add(load->import.trace, scopes) : NULL;

	if (!row)
		return -ENOMEM;
	*row = (struct trace_scope){
		.process = process,
		.id = external_of(load),
		.parent = TRACE_NONE,
		.kind = scope_kind(load),
		.text = event->name,
		.name = event->name,
		.thread = (uint32_t)thread,
		.begin_ns = event->begin_ns,
		.end_ns = event->begin_ns + event->duration_ns,
	};
	return add_scope_attributes(load, row);
}

/* The kind of overhead by CUPTI's number (CUpti_ActivityOverheadKind); 0 = unknown. */
static uint32_t overhead_kind(const char *name)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} kinds[] = {
		{"Driver Compiler", 1},
		{"Buffer Flush", 1 << 16},
		{"Instrumentation", 2 << 16},
		{"Resource", 3 << 16},
		{"Runtime Triggered Module Loading", 4 << 16},
		{"Lazy Function Loading", 5 << 16},
		{"Command Buffer Full", 6 << 16},
		{"Activity Buffer Request", 7 << 16},
		{"UVM Activity Init", 8 << 16},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(name, kinds[i].name))
			return kinds[i].kind;
	}
	return 0;
}

/* Overhead rows have pid -1: the file does not state the process, so they go to the first. */
static int take_overhead(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	struct trace_overhead *row = trace_add(load->import.trace, overheads);

	if (!row)
		return -ENOMEM;
	*row = (struct trace_overhead){
		.thread = TRACE_NONE,
		.kind = overhead_kind(kread_string(load, event->name)),
		.begin_ns = event->begin_ns,
		.end_ns = event->begin_ns + event->duration_ns,
	};
	return 0;
}

/* ---- the GPU ---- */

static enum trace_activity_kind kind_of(trace_string category)
{
	if (category == KREAD_MEMCPY || category == KREAD_OLD_MEMCPY)
		return TRACE_COPY;
	if (category == KREAD_MEMSET || category == KREAD_OLD_MEMSET)
		return TRACE_MEMSET;
	return TRACE_KERNEL;
}

/* The direction in a name such as "Memcpy HtoD (Pinned -> Device)". A is an array, which is GPU
 * memory. */
static enum trace_copy_direction direction_of(const char *name)
{
	static const struct {
		const char *text;
		enum trace_copy_direction direction;
	} words[] = {
		{"HtoD", TRACE_H2D}, {"DtoH", TRACE_D2H}, {"DtoD", TRACE_D2D}, {"HtoH", TRACE_H2H},
		{"PtoP", TRACE_P2P}, {"HtoA", TRACE_H2D}, {"AtoH", TRACE_D2H}, {"AtoA", TRACE_D2D},
		{"AtoD", TRACE_D2D}, {"DtoA", TRACE_D2D},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strstr(name, words[i].text))
			return words[i].direction;
	}
	return TRACE_COPY_UNKNOWN;
}

/* Sets direction and agents of a copy; the agents are device numbers until map_work replaces them.
 * Returns the args that it has used. */
static uint64_t take_copy(const struct kread_load *load, uint32_t device, struct trace_work *work)
{
	const struct kread_event *event = &load->event;
	int64_t from, to;

	work->direction = direction_of(kread_string(load, event->name));
	if (kread_int(load, event, KREAD_FROM_DEVICE, &from) &&
	    kread_int(load, event, KREAD_TO_DEVICE, &to) && from >= 0 && to >= 0) {
		work->src_agent = clamped(from);
		work->dst_agent = clamped(to);
		return KREAD_ARG(KREAD_FROM_DEVICE) | KREAD_ARG(KREAD_TO_DEVICE);
	}
	if (work->direction == TRACE_H2D || work->direction == TRACE_D2D)
		work->dst_agent = device;
	if (work->direction == TRACE_D2H || work->direction == TRACE_D2D)
		work->src_agent = device;
	return 0;
}

/* Sets the dimensions of a kernel; the file's grid counts blocks. Returns the args that it has
 * used. */
static uint64_t take_dimensions(const struct kread_event *event, struct trace_work *work)
{
	if ((event->args & KREAD_DIMENSION_ARGS) != KREAD_DIMENSION_ARGS)
		return 0;
	for (int i = 0; i < 3; i++) {
		work->grid[i] = (uint64_t)event->grid[i] * event->block[i];
		work->workgroup[i] = event->block[i];
	}
	return KREAD_DIMENSION_ARGS;
}

/* Interns the work kind of the row. Returns the args that it states; RET_WORK is TRACE_NONE if
 * there is no memory. */
static uint64_t take_work(struct kread_load *load, uint32_t device, uint32_t *ret_work)
{
	const struct kread_event *event = &load->event;
	enum trace_activity_kind kind = kind_of(event->category);
	struct trace_work work;
	uint64_t taken;
	int64_t bytes;

	work_blank(&work, kind);
	work.name = event->name;
	taken = take_dimensions(event, &work);
	if (kind == TRACE_COPY)
		taken |= take_copy(load, device, &work);
	else if (kind == TRACE_MEMSET)
		work.dst_agent = device;
	if (kind == TRACE_KERNEL) {
		work.registers = clamped(kread_int_or(load, event, KREAD_REGISTERS, 0));
		work.group_bytes = clamped(kread_int_or(load, event, KREAD_SHARED_MEMORY, 0));
		taken |= KREAD_ARG(KREAD_REGISTERS) | KREAD_ARG(KREAD_SHARED_MEMORY);
	} else if (kread_int(load, event, KREAD_BYTES, &bytes) && bytes >= 0) {
		work.bytes = (uint64_t)bytes;
		taken |= KREAD_ARG(KREAD_BYTES);
	}
	*ret_work = work_intern(&load->import.works, &work);
	return taken;
}

/* The row's device number: the arg "device", else the pid, which is the device's number on GPU
 * rows. */
static uint32_t device_of(const struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	int64_t device = -1;

	if (!kread_int(load, event, KREAD_DEVICE, &device) && !event->pid.is_text)
		device = (int64_t)event->pid.value;
	return device >= 0 && device < KREAD_NO_DEVICE ? (uint32_t)device : KREAD_NO_DEVICE;
}

static int64_t stream_of(const struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	int64_t tid = event->tid.is_text ? KREAD_NO_STREAM : (int64_t)event->tid.value;

	return kread_int_or(load, event, KREAD_STREAM, tid);
}

static int take_activity(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	struct kread_activity *raw_row =
		table_add((void **)&load->raw, &load->raw_count, sizeof(*load->raw));
	struct trace_activity *row = import_activity(&load->import);
	uint64_t taken;

	if (!raw_row || !row)
		return -ENOMEM;
	raw_row->device = device_of(load);
	raw_row->stream = stream_of(load);
	raw_row->external_id = external_of(load);
	raw_row->graph = (uint64_t)kread_int_or(load, event, KREAD_GRAPH_ID, 0);
	raw_row->node = (uint64_t)kread_int_or(load, event, KREAD_GRAPH_NODE_ID, 0);
	taken = take_work(load, raw_row->device, &raw_row->work);
	if (raw_row->work == TRACE_NONE)
		return -ENOMEM;
	row->start_ns = event->begin_ns;
	row->end_ns = event->begin_ns + event->duration_ns;
	row->cid = correlation_of(load);
	row->id = load->raw_count - 1;
	return import_set_activity(&load->import, kread_attribute_set(load, taken | WORK_ARGS));
}

/* ---- rows about the file ---- */

/* Keeps a label row: "thread 410 (python3)", "stream 7 ". */
static int take_label(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	const struct trace_scope_attribute *name;
	struct kread_label *row;

	if ((event->name != KREAD_PROCESS_NAME && event->name != KREAD_THREAD_NAME) ||
	    !kread_has(event, KREAD_NAME))
		return 0;
	name = kread_arg(event, KREAD_NAME);
	if (name->kind != RECORD_ATTRIBUTE_TEXT)
		return 0;
	row = table_add((void **)&load->labels, &load->labels_count, sizeof(*load->labels));
	if (!row)
		return -ENOMEM;
	*row = (struct kread_label){
		.pid = event->pid,
		.tid = event->tid,
		.is_thread = event->name == KREAD_THREAD_NAME,
		.text = name->value.text,
	};
	return 0;
}

int kread_take_device(struct kread_load *load)
{
	const struct kread_event *event = &load->event;
	int64_t id = kread_int_or(load, event, KREAD_ID, load->agents_count), set;
	uint32_t known = load->properties.count;
	uint32_t number = numbers_get(&load->properties, 0, clamped(id));
	struct trace_agent *row;

	if (number != known)
		return number == NUMBERS_NONE ? -ENOMEM : 0;
	row = table_add((void **)&load->agents, &load->agents_count, sizeof(*load->agents));
	if (!row)
		return -ENOMEM;
	*row = (struct trace_agent){
		.index = clamped(id),
		.is_gpu = true,
		.gpu_ordinal = clamped(id),
		.memory_bytes = (uint64_t)kread_int_or(load, event, KREAD_TOTAL_MEMORY, 0),
		.compute_units = clamped(kread_int_or(load, event, KREAD_SM_COUNT, 0)),
		.wave_size = clamped(kread_int_or(load, event, KREAD_WARP_SIZE, 0)),
	};
	if (kread_has(event, KREAD_NAME) &&
	    kread_arg(event, KREAD_NAME)->kind == RECORD_ATTRIBUTE_TEXT)
		row->name = kread_arg(event, KREAD_NAME)->value.text;
	set = kread_attribute_set(load, 0);
	row->attributes = set > 0 ? (uint32_t)set : 0;
	return set < 0 ? (int)set : 0;
}

static int leave_out(struct kread_load *load, enum kread_left_out why)
{
	load->left_out[why]++;
	return 0;
}

/* Takes marks only. Other instants are about the profiler itself, and those of the memory
 * allocator alone can be millions. */
static int take_instant(struct kread_load *load)
{
	const struct kread_event *event = &load->event;

	if (event->category != KREAD_USER_ANNOTATION || !event->has_time || event->is_absurd)
		return leave_out(load, KREAD_LEFT_OUT_PHASE);
	load->event.duration_ns = 0;
	return take_scope(load);
}

static int take_complete(struct kread_load *load)
{
	switch (load->event.category) {
	case KREAD_KERNEL:
	case KREAD_MEMCPY:
	case KREAD_MEMSET:
	case KREAD_OLD_KERNEL:
	case KREAD_OLD_MEMCPY:
	case KREAD_OLD_MEMSET:
		return take_activity(load);
	case KREAD_CUDA_RUNTIME:
	case KREAD_CUDA_DRIVER:
	case KREAD_OLD_RUNTIME:
		return take_call(load);
	case KREAD_CPU_OP:
	case KREAD_OLD_OPERATOR:
	case KREAD_USER_ANNOTATION:
	case KREAD_PYTHON_FUNCTION:
		return take_scope(load);
	case KREAD_CUDA_SYNC:
		return kread_take_sync(load);
	case KREAD_CUDA_EVENT:
		return kread_take_event_record(load);
	case KREAD_OVERHEAD:
		return take_overhead(load);
	case KREAD_GPU_USER_ANNOTATION:
		return leave_out(load, KREAD_LEFT_OUT_DERIVED);
	default:
		return leave_out(load, KREAD_LEFT_OUT_CATEGORY);
	}
}

int kread_take_event(struct kread_load *load)
{
	const struct kread_event *event = &load->event;

	switch (event->phase) {
	case 'X':
		if (!event->has_time || event->is_absurd)
			return leave_out(load, KREAD_LEFT_OUT_TIME);
		load->backwards += event->duration_ns < 0;
		return take_complete(load);
	case 'i':
		return take_instant(load);
	case 'M':
		return take_label(load);
	case 's':
	case 't':
	case 'f': /* arrows from a call to its activity repeat the correlation id */
		return event->category == KREAD_AC2G ? 0 : leave_out(load, KREAD_LEFT_OUT_FLOW);
	default:
		return leave_out(load, KREAD_LEFT_OUT_PHASE);
	}
}
