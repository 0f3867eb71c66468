/* Contexts and recordings: creation and destruction, slots, errors. */
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

/* Fills in the defaults and copies the strings. */
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

/* A failure to measure is not an error: without costs DAGPATCH_AUTO does not choose the table. */
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
	int err;

	if (!driver) {
		snprintf(error->message, sizeof(error->message),
			 "no driver \"%s\": options.driver is one of dagpatch_driver_name()",
			 context->options.driver ? context->options.driver : "");
		return -EINVAL;
	}
	err = layouts_create(&layouts);
	if (err < 0)
		return err;
	err = driver->open(&context->options, &context->device, error);
	if (err < 0) {
		layouts_destroy(layouts);
		return err;
	}
	context->device->layouts = layouts;
	pthread_mutex_init(&context->device->shared_graphs, NULL);
	context->device->table_versions = context->options.table_versions;
	measure(context);
	return 0;
}

static int context_read(const struct dagpatch_options *options,
			struct dagpatch_context **ret_context, struct dagpatch_error *error)
{
	struct dagpatch_context *context = calloc(1, sizeof(*context));
	const char *wrong = NULL;
	int err;

	if (!context)
		return -ENOMEM;
	context->references = 1;
	pthread_mutex_init(&context->lock, NULL);
	*ret_context = context;
	err = sized_read(&context->options, sizeof(context->options), options);
	if (err == -EINVAL)
		wrong = "options.size is not sizeof(struct dagpatch_options)";
	else if (err == 0 && (unsigned int)context->options.strategy >= DAGPATCH_STRATEGY_COUNT)
		wrong = "options.strategy is none";
	if (wrong)
		snprintf(error->message, sizeof(error->message), "%s", wrong);
	return wrong ? -EINVAL : err;
}

int dagpatch_context_create(const struct dagpatch_options *options,
			    struct dagpatch_context **ret_context, struct dagpatch_error *error)
{
	struct dagpatch_error local = {.node = DAGPATCH_NONE, .byte = DAGPATCH_NONE};
	struct dagpatch_context *context = NULL;
	int err = ret_context ? context_read(options, &context, &local) : -EINVAL;

	if (err == 0)
		err = context_own_options(context);
	if (err == 0)
		err = context_open(context, &local);
	if (err < 0) {
		dagpatch_context_destroy(context);
		local.code = err;
		if (!local.message[0])
			snprintf(local.message, sizeof(local.message), "%s", strerror(-err));
		if (error)
			*error = local;
		return err;
	}
	*ret_context = context;
	return 0;
}

void context_release(struct dagpatch_context *context)
{
	if (--context->references > 0)
		return;
	if (context->device) {
		struct patch_layouts *layouts = context->device->layouts;

		reap_all(context);
		pthread_mutex_destroy(&context->device->shared_graphs);
		context->device->driver->close(context->device);
		layouts_destroy(layouts);
	}
	pthread_mutex_destroy(&context->lock);
	free(context->driver_name);
	free(context->library);
	free(context);
}

void dagpatch_context_destroy(struct dagpatch_context *context)
{
	if (context)
		context_release(context);
}

uint32_t dagpatch_context_capabilities(const struct dagpatch_context *context)
{
	if (!context)
		return 0;
	return context->device->capabilities &
	       (DAGPATCH_HAS_TABLE | DAGPATCH_HAS_CONDITIONALS | DAGPATCH_HAS_LAYOUTS);
}

int dagpatch_kernel_describe(struct dagpatch_context *context, const void *function,
			     const struct dagpatch_parameter *parameters, uint32_t count)
{
	if (!context || !function || (!parameters && count > 0))
		return -EINVAL;
	return layout_describe(context->device, function, parameters, count);
}

/* ---- errors ---- */

static int fail(struct dagpatch_recording *recording, int code, uint32_t node, uint32_t byte,
		const char *format, va_list arguments)
{
	struct patch_fault fault = patch_fault_take();
	struct dagpatch_error *error;
	char place[PLACE_TEXT];
	int length = 0;

	if (!recording)
		return code;
	error = &recording->error;
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

	if (!recording)
		return -EINVAL;
	if (recording->state == state)
		return 0;
	return recording_fail(recording, -EINVAL, "%s: the recording is %s, it must be %s", what,
			      names[recording->state], names[state]);
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

static void join(struct dagpatch_context *context, struct dagpatch_recording *recording)
{
	pthread_mutex_lock(&context->lock);
	recording->at = &context->recordings;
	recording->next = context->recordings;
	if (recording->next)
		recording->next->at = &recording->next;
	context->recordings = recording;
	pthread_mutex_unlock(&context->lock);
}

/* After this no other thread can evict the recording's graph. */
static void leave(struct dagpatch_context *context, struct dagpatch_recording *recording)
{
	pthread_mutex_lock(&context->lock);
	*recording->at = recording->next;
	if (recording->next)
		recording->next->at = recording->at;
	pthread_mutex_unlock(&context->lock);
}

int dagpatch_recording_create(struct dagpatch_context *context, uint32_t flags,
			      struct dagpatch_recording **ret_recording)
{
	struct dagpatch_recording *recording;

	if (!context || !ret_recording ||
	    flags & ~(uint32_t)(DAGPATCH_DERIVE_DEPENDENCIES | DAGPATCH_NESTED))
		return -EINVAL;
	recording = calloc(1, sizeof(*recording));
	if (!recording)
		return -ENOMEM;
	recording->context = context;
	recording->device = context->device;
	recording->flags = flags;
	context->references++;
	join(context, recording);
	reap(context);
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

static void recapture_release(struct recapture *recapture)
{
	captured_graph_release(recapture->current);
	captured_graph_release(recapture->next);
	cache_name_release(recapture->name);
	free(recapture->next_key);
	free(recapture->slots);
	free(recapture->offsets);
	free(recapture->handles);
}

struct mark recording_mark(const struct dagpatch_recording *recording)
{
	return (struct mark){
		.nodes = recording->node_count,
		.image_words = recording->image_words,
		.after = recording->after_count,
		.accesses = recording->access_count,
		.works = recording->work_count,
		.recaptures = recording->recapture_count,
		.conditionals = recording->conditional_count,
		.attributes = recording->attribute_count,
		.loose = recording->loose_count,
	};
}

void recording_rewind(struct dagpatch_recording *recording, const struct mark *mark)
{
	while (recording->work_count > mark->works)
		placed_work_release(&recording->works[--recording->work_count]);
	while (recording->recapture_count > mark->recaptures)
		recapture_release(&recording->recaptures[--recording->recapture_count]);
	recording->node_count = mark->nodes;
	recording->image_words = mark->image_words;
	recording->after_count = mark->after;
	recording->access_count = mark->accesses;
	recording->conditional_count = mark->conditionals;
	recording->attribute_count = mark->attributes;
	recording->loose_count = mark->loose;
}

static void release_all(struct dagpatch_recording *recording)
{
	retire_all(recording);
	recording_rewind(recording, &(struct mark){0});
	if (recording->source && !recording->foreign_exec)
		recording->device->driver->graph_destroy(recording->device, recording->source);
	revisions_clear(recording);
	revisions_release(recording);
	free(recording->nodes);
	free(recording->images);
	free(recording->adopted);
	free(recording->after_end);
	free(recording->after);
	free(recording->accesses);
	free(recording->works);
	free(recording->recaptures);
	free(recording->conditionals);
	free(recording->attributes);
	free(recording->loose);
	finalize_release(recording);
}

void dagpatch_recording_destroy(struct dagpatch_recording *recording)
{
	struct dagpatch_context *context;
	struct device_visit visit;
	bool is_inside;

	if (recording_own(recording) < 0)
		return;
	context = recording->context;
	leave(context, recording);
	/* Host memory is freed even if the device can no longer be entered. */
	is_inside = device_enter(context->device, &visit) == 0;
	release_all(recording);
	if (is_inside)
		device_leave(&visit);
	free(recording);
	reap(context);
	context_release(context);
}

enum dagpatch_state dagpatch_recording_state(const struct dagpatch_recording *recording)
{
	return recording ? recording->state : DAGPATCH_LOST;
}

const struct dagpatch_error *dagpatch_recording_error(const struct dagpatch_recording *recording)
{
	static const struct dagpatch_error none = {-EINVAL, 0, DAGPATCH_NONE, DAGPATCH_NONE,
						   "there is no recording"};

	return recording ? &recording->error : &none;
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
	int err = recording_check(recording);

	if (err < 0)
		return err;
	err = recording_expect(recording, DAGPATCH_CREATED, "dagpatch_slot_add");
	if (err == 0 && !ret_slot)
		err = recording_fail(recording, -EINVAL, "no place for the slot's number");
	if (err == 0 && recording->is_adopted)
		err = recording_fail(recording, -EINVAL, "slots come before dagpatch_adopt");
	if (err == 0)
		err = recording_read(recording, &slot, sizeof(slot), given, "slot");
	if (err == 0)
		err = check_slot(recording, &slot);
	if (err < 0)
		return err;
	err = recording_grow(&recording->slots, &recording->slot_capacity,
			     (uint64_t)recording->slot_count + 1, sizeof(*recording->slots));
	if (err == 0 && slot.name) {
		name = strdup(slot.name);
		err = name ? 0 : -ENOMEM;
	}
	if (err < 0)
		return recording_fail(recording, err, "no memory for a slot");
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
