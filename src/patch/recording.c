/* Contexts and recordings: their lives, their slots, their errors. */
#include "patch/recording.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patch/layout.h"

enum { DEFAULT_DEPTH = 8, DEFAULT_VERSIONS = 1024, DEFAULT_ALIGNMENT = 256 };

/* ---- context ---- */

static const struct patch_driver *find_driver(const char *name)
{
	for (uint32_t i = 0; name && patch_drivers[i]; i++)
		if (strcmp(patch_drivers[i]->name, name) == 0)
			return patch_drivers[i];
	return NULL;
}

const char *dagpatch_driver_name(uint32_t index)
{
	for (uint32_t i = 0; i <= index; i++)
		if (!patch_drivers[i])
			return NULL;
	return patch_drivers[index]->name;
}

/* Puts the defaults in and copies the texts. */
static int context_own_options(struct dagpatch_context *context)
{
	struct dagpatch_options *options = &context->options;

	if (options->child_depth == 0)
		options->child_depth = DEFAULT_DEPTH;
	if (options->table_versions == 0)
		options->table_versions = DEFAULT_VERSIONS;
	context->driver_name = options->driver ? strdup(options->driver) : NULL;
	context->library = options->library ? strdup(options->library) : NULL;
	if ((options->driver && !context->driver_name) || (options->library && !context->library))
		return -ENOMEM;
	options->driver = context->driver_name;
	options->library = context->library;
	return 0;
}

/* What is not known after it is not chosen: no failure. */
static void measure(struct dagpatch_context *context)
{
	struct patch_device *device = context->device;
	const struct dagpatch_options *options = &context->options;
	struct device_visit visit;

	if (!(device->capabilities & PATCH_HAS_TABLE) || options->strategy != DAGPATCH_AUTO ||
	    options->table_from_nodes > 0)
		return;
	if (device_enter(device, &visit) == 0) {
		if (device->driver->measure(device, &device->costs) < 0)
			device->costs = (struct patch_costs){0};
		device_leave(&visit);
	}
	patch_fault_take();
}

static int context_open(struct dagpatch_context *context, struct dagpatch_error *error)
{
	const struct patch_driver *driver = find_driver(context->options.driver);
	struct patch_layouts *layouts;
	int rc;

	if (!driver) {
		snprintf(error->message, sizeof(error->message),
			 "no driver \"%s\": options.driver is one of dagpatch_driver_name()",
			 context->options.driver ? context->options.driver : "");
		return -EINVAL;
	}
	rc = layouts_create(&layouts);
	if (rc < 0)
		return rc;
	rc = driver->open(&context->options, &context->device, error);
	if (rc < 0) {
		layouts_destroy(layouts);
		return rc;
	}
	context->device->layouts = layouts;
	pthread_mutex_init(&context->device->shared_graphs, NULL);
	context->device->table_versions = context->options.table_versions;
	measure(context);
	return 0;
}

int dagpatch_context_create(const struct dagpatch_options *options,
			    struct dagpatch_context **ret_context, struct dagpatch_error *error)
{
	struct dagpatch_error local = {.node = DAGPATCH_NONE, .byte = DAGPATCH_NONE};
	struct dagpatch_context *context = calloc(1, sizeof(*context));
	int rc = context ? sized_read(&context->options, sizeof(context->options), options)
			 : -ENOMEM;

	if (rc == -EINVAL)
		snprintf(local.message, sizeof(local.message),
			 "options.size is not sizeof(struct dagpatch_options)");
	if (rc == 0)
		rc = context_own_options(context);
	if (rc == 0)
		rc = context_open(context, &local);
	if (rc < 0) {
		dagpatch_context_destroy(context);
		local.code = rc;
		if (!local.message[0])
			snprintf(local.message, sizeof(local.message), "%s", strerror(-rc));
		if (error)
			*error = local;
		return rc;
	}
	*ret_context = context;
	return 0;
}

void dagpatch_context_destroy(struct dagpatch_context *context)
{
	if (!context)
		return;
	if (context->device) {
		struct patch_layouts *layouts = context->device->layouts;

		pthread_mutex_destroy(&context->device->shared_graphs);
		context->device->driver->close(context->device);
		layouts_destroy(layouts);
	}
	free(context->driver_name);
	free(context->library);
	free(context);
}

uint32_t dagpatch_context_capabilities(const struct dagpatch_context *context)
{
	return context->device->capabilities &
	       (DAGPATCH_HAS_TABLE | DAGPATCH_HAS_CONDITIONALS | DAGPATCH_HAS_LAYOUTS);
}

int dagpatch_kernel_describe(struct dagpatch_context *context, const void *function,
			     const struct dagpatch_parameter *parameters, uint32_t count)
{
	return layout_describe(context->device, function, parameters, count);
}

/* ---- errors ---- */

static int fail(struct dagpatch_recording *recording, int code, uint32_t node, uint32_t byte,
		const char *format, va_list arguments)
{
	struct dagpatch_error *error = &recording->error;
	struct patch_fault fault = patch_fault_take();
	char place[PLACE_TEXT];
	int length = 0;

	*error = (struct dagpatch_error){.code = code, .node = node, .byte = byte};
	if (node != DAGPATCH_NONE)
		length = snprintf(error->message, sizeof(error->message),
				  "%s: ", place_text(recording, node, byte, place));
	if ((size_t)length < sizeof(error->message))
		length += vsnprintf(error->message + length,
				    sizeof(error->message) - (size_t)length, format, arguments);
	if (fault.call && fault.code_errno == code && length >= 0 &&
	    (size_t)length < sizeof(error->message)) {
		error->driver_code = fault.code;
		snprintf(error->message + length, sizeof(error->message) - (size_t)length,
			 ": %s: %s (%d)", fault.call, fault.text, fault.code);
	}
	recording->stats.failures++;
	return code;
}

int recording_fail(struct dagpatch_recording *recording, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fail(recording, code, DAGPATCH_NONE, DAGPATCH_NONE, format, arguments);
	va_end(arguments);
	return code;
}

int recording_fail_at(struct dagpatch_recording *recording, int code, uint32_t node, uint32_t byte,
		      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fail(recording, code, node, byte, format, arguments);
	va_end(arguments);
	return code;
}

int recording_expect(struct dagpatch_recording *recording, enum dagpatch_state state,
		     const char *what)
{
	static const char *const names[] = {"being recorded", "finalized", "lost"};

	if (recording->state == state)
		return 0;
	return recording_fail(recording, -EINVAL, "%s: the recording is %s, it must be %s", what,
			      names[recording->state], names[state]);
}

int recording_enter(struct dagpatch_recording *recording, struct device_visit *ret_visit)
{
	int rc = device_enter(recording->device, ret_visit);

	return rc < 0 ? recording_fail(recording, rc, "entering device %d",
				       recording->device->ordinal)
		      : 0;
}

/* ---- recordings ---- */

int recording_grow(void *items, uint32_t *capacity, uint64_t count, size_t size)
{
	uint64_t wanted = *capacity ? *capacity : 16;
	void *grown, *old;

	if (count <= *capacity)
		return 0;
	while (wanted < count)
		wanted *= 2;
	if (wanted > UINT32_MAX)
		return -ENOMEM;
	memcpy(&old, items, sizeof(old));
	grown = realloc(old, wanted * size);
	if (!grown)
		return -ENOMEM;
	memcpy(items, &grown, sizeof(grown));
	*capacity = (uint32_t)wanted;
	return 0;
}

int dagpatch_recording_create(struct dagpatch_context *context, uint32_t flags,
			      struct dagpatch_recording **ret_recording)
{
	struct dagpatch_recording *recording;

	if (flags & ~(uint32_t)(DAGPATCH_DERIVE_DEPENDENCIES | DAGPATCH_NESTED))
		return -EINVAL;
	recording = calloc(1, sizeof(*recording));
	if (!recording)
		return -ENOMEM;
	recording->context = context;
	recording->device = context->device;
	recording->flags = flags;
	*ret_recording = recording;
	return 0;
}

void captured_graph_release(struct captured_graph *graph)
{
	if (!graph || --graph->references > 0)
		return;
	if (graph->content) {
		graph->content->source = NULL;
		dagpatch_recording_destroy(graph->content);
	}
	graph->device->driver->graph_destroy(graph->device, graph->graph);
	free(graph);
}

static void again_release(struct again *again)
{
	captured_graph_release(again->current);
	captured_graph_release(again->next);
	cache_name_release(again->name);
	free(again->next_key);
	free(again->slots);
	free(again->offsets);
	free(again->handles);
}

struct mark recording_mark(const struct dagpatch_recording *recording)
{
	return (struct mark){
		.nodes = recording->node_count,
		.image_words = recording->image_words,
		.after = recording->after_count,
		.accesses = recording->access_count,
		.works = recording->work_count,
		.agains = recording->again_count,
		.conditionals = recording->conditional_count,
		.loose = recording->loose_count,
	};
}

void recording_rewind(struct dagpatch_recording *recording, const struct mark *mark)
{
	while (recording->work_count > mark->works)
		placed_work_release(&recording->works[--recording->work_count]);
	while (recording->again_count > mark->agains)
		again_release(&recording->agains[--recording->again_count]);
	recording->node_count = mark->nodes;
	recording->image_words = mark->image_words;
	recording->after_count = mark->after;
	recording->access_count = mark->accesses;
	recording->conditional_count = mark->conditionals;
	recording->loose_count = mark->loose;
}

static void release_slots(struct dagpatch_recording *recording)
{
	for (uint32_t i = 0; i < recording->slot_count; i++) {
		struct slot *slot = &recording->slots[i];

		if (slot->shadow)
			recording->device->driver->memory_free(recording->device, slot->shadow,
							       slot->on_host);
		free(slot->name);
	}
	free(recording->slots);
}

static void release_all(struct dagpatch_recording *recording)
{
	built_release(recording, &recording->built);
	recording_rewind(recording, &(struct mark){0});
	if (recording->source && !recording->foreign_exec)
		recording->device->driver->graph_destroy(recording->device, recording->source);
	release_slots(recording);
	edits_clear(recording);
	free(recording->edits);
	free(recording->nodes);
	free(recording->images);
	free(recording->adopted);
	free(recording->after_end);
	free(recording->after);
	free(recording->accesses);
	free(recording->works);
	free(recording->agains);
	free(recording->conditionals);
	free(recording->loose);
	finalize_release(recording);
}

void dagpatch_recording_destroy(struct dagpatch_recording *recording)
{
	struct device_visit visit;
	bool is_inside;

	if (!recording)
		return;
	/* What is the host's goes also when the device is no longer there. */
	is_inside = device_enter(recording->device, &visit) == 0;
	release_all(recording);
	if (is_inside)
		device_leave(&visit);
	free(recording);
}

enum dagpatch_state dagpatch_recording_state(const struct dagpatch_recording *recording)
{
	return recording->state;
}

const struct dagpatch_error *dagpatch_recording_error(const struct dagpatch_recording *recording)
{
	return &recording->error;
}

/* ---- slots ---- */

static int check_slot(struct dagpatch_recording *recording, const struct dagpatch_slot *slot)
{
	if (slot->bytes == 0)
		return recording_fail(recording, -EINVAL, "a slot of 0 bytes");
	if (slot->alignment & (slot->alignment - 1))
		return recording_fail(recording, -EINVAL, "a slot's alignment is no power of two");
	if (slot->flags & ~(uint32_t)(DAGPATCH_SHADOW_IN | DAGPATCH_SHADOW_OUT))
		return recording_fail(recording, -EINVAL, "unknown flags of a slot");
	if (slot->flags && (recording->flags & DAGPATCH_NESTED))
		return recording_fail(recording, -EINVAL, "a nested recording has no shadows");
	return 0;
}

int dagpatch_slot_add(struct dagpatch_recording *recording, const struct dagpatch_slot *given,
		      uint32_t *ret_slot)
{
	struct dagpatch_slot slot;
	char *name = NULL;
	int rc = recording_expect(recording, DAGPATCH_CREATED, "dagpatch_slot_add");

	if (rc == 0 && recording->is_adopted)
		rc = recording_fail(recording, -EINVAL, "slots come before dagpatch_adopt");
	if (rc == 0)
		rc = recording_read(recording, &slot, sizeof(slot), given, "slot");
	if (rc == 0)
		rc = check_slot(recording, &slot);
	if (rc < 0)
		return rc;
	rc = recording_grow(&recording->slots, &recording->slot_capacity,
			    (uint64_t)recording->slot_count + 1, sizeof(*recording->slots));
	if (rc == 0 && slot.name) {
		name = strdup(slot.name);
		rc = name ? 0 : -ENOMEM;
	}
	if (rc < 0)
		return recording_fail(recording, rc, "no memory for a slot");
	recording->slots[recording->slot_count] = (struct slot){
		.name = name,
		.bytes = slot.bytes,
		.alignment = slot.alignment ? slot.alignment : DEFAULT_ALIGNMENT,
		.flags = slot.flags,
		.on_host = slot.on_host != 0,
	};
	*ret_slot = recording->slot_count++;
	return 0;
}

/* ---- looking in ---- */

static uint64_t relocation_total(const struct dagpatch_recording *recording)
{
	return recording->first_relocation ? recording->first_relocation[recording->slot_count]
					   : recording->loose_count;
}

static void fill_sizes(const struct dagpatch_recording *recording, struct dagpatch_stats *stats)
{
	uint64_t nodes = recording->node_count;

	stats->node_count = nodes;
	stats->relocation_count = relocation_total(recording);
	stats->node_bytes = nodes * (sizeof(struct node) + sizeof(*recording->after_end) +
				     (recording->dirty ? sizeof(*recording->dirty) : 0)) +
			    recording->after_count * sizeof(*recording->after) +
			    recording->access_count * sizeof(*recording->accesses) +
			    recording->conditional_count * sizeof(*recording->conditionals);
	stats->relocation_bytes = stats->relocation_count *
				  (recording->first_relocation ? sizeof(struct relocation)
							       : sizeof(struct loose_relocation));
	stats->parameter_bytes = (uint64_t)recording->image_words * sizeof(*recording->images);
}

int dagpatch_recording_stats(const struct dagpatch_recording *recording,
			     struct dagpatch_stats *ret_stats)
{
	struct dagpatch_stats stats = recording->stats;
	size_t size = ret_stats->size < sizeof(stats) ? ret_stats->size : sizeof(stats);

	if (size < sizeof(stats.size))
		return -EINVAL;
	fill_sizes(recording, &stats);
	stats.size = size;
	memcpy(ret_stats, &stats, size);
	return 0;
}

uint32_t public_byte(const struct dagpatch_recording *recording, uint32_t node, uint32_t byte)
{
	uint32_t begin =
		recording->nodes[node].kind == PATCH_KERNEL ? sizeof(struct patch_kernel) : 0;

	return byte == RELOCATION_AGAIN || byte < begin ? DAGPATCH_NONE : byte - begin;
}

int dagpatch_recording_relocation(const struct dagpatch_recording *recording, uint32_t index,
				  struct dagpatch_relocation *ret_relocation)
{
	const struct relocation *relocation;
	uint32_t slot = 0;

	if (!recording->first_relocation || index >= relocation_total(recording))
		return -ERANGE;
	while (recording->first_relocation[slot + 1] <= index)
		slot++;
	relocation = &recording->relocations[index];
	*ret_relocation = (struct dagpatch_relocation){
		.node = relocation->node,
		.byte = public_byte(recording, relocation->node, relocation->byte),
		.slot = slot,
		.offset = relocation->offset,
	};
	return 0;
}

void *dagpatch_recording_exec(const struct dagpatch_recording *recording)
{
	return recording->foreign_exec ? recording->foreign_exec : recording->built.exec;
}

void *dagpatch_node_handle(const struct dagpatch_recording *recording, uint32_t node)
{
	return node < recording->node_count ? recording->nodes[node].handle : NULL;
}
