/* The XSpace reader's entry points: lists the planes and reads them in the right order. */
#include "format/xspace/xspace_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/xspace/xspace_reader_load.h"
#include "trace/row_table.h"
#include "wire/proto.h"

bool xspace_is_likely(const struct read_file *file)
{
	struct proto_reader fields = proto_reader_of(file->bytes, file->size), plane;
	struct proto_field field;
	bool is_any = false;
	int got;

	while ((got = proto_reader_next(&fields, &field)) > 0) {
		if (field.wire != PROTO_BYTES || field.number > XSPACE_HOSTNAMES)
			return false;
		is_any = true;
		if (field.number != XSPACE_PLANES)
			continue;
		plane = proto_reader_into(&field);
		if (proto_reader_next(&plane, &field) < 0 || field.number > XPLANE_STATS)
			return false;
	}
	return got == 0 && is_any;
}

/* Reads the plane's id and name. */
static int read_head(struct xread_load *load, struct xread_plane *plane)
{
	struct proto_reader fields = plane->body;
	struct proto_field field;
	int got;

	while ((got = xread_next(load, &fields, &field, "a plane")) > 0) {
		if (field.number == XPLANE_ID && field.wire == PROTO_VARINT)
			plane->id = (int64_t)field.value;
		else if (field.number == XPLANE_NAME && field.wire == PROTO_BYTES)
			plane->name = xread_text(load, &field);
	}
	return got;
}

static int add_plane(struct xread_load *load, const struct proto_field *field)
{
	struct xread_plane *plane =
		table_add((void **)&load->planes, &load->planes_count, sizeof(*plane));

	if (!plane)
		return -ENOMEM;
	*plane = (struct xread_plane){.body = proto_reader_into(field)};
	return read_head(load, plane);
}

/* Adds an error or warning of the file as a message. XLA states dropped events only in a warning,
 * so it counts as damage; dagtap's files also have them in the ledger. */
static int take_warning(struct xread_load *load, const struct proto_field *field, bool is_error)
{
	trace_string text = xread_text(load, field);
	bool is_drop = strstr(xread_string(load, text), "dropped") != NULL;

	return import_tell(&load->import, is_error || (is_drop && !load->is_ours), text);
}

/* Sets the host of all processes; an XSpace of another tool comes from one machine. */
static void take_host(struct xread_load *load, const struct proto_field *field)
{
	trace_string host = xread_text(load, field);

	for (uint32_t i = 0; i < load->import.trace->processes_count; i++)
		load->import.trace->processes[i].host = host;
}

static int read_warnings(struct xread_load *load)
{
	struct proto_reader fields = proto_reader_of(load->bytes, load->size);
	struct proto_field field;
	int got, result = 0;

	while (result == 0 && (got = xread_next(load, &fields, &field, "the file")) != 0) {
		if (got < 0)
			return got;
		if (field.wire != PROTO_BYTES)
			continue;
		if (field.number == XSPACE_ERRORS || field.number == XSPACE_WARNINGS)
			result = take_warning(load, &field, field.number == XSPACE_ERRORS);
		else if (field.number == XSPACE_HOSTNAMES)
			take_host(load, &field);
	}
	return result;
}

static int list_planes(struct xread_load *load)
{
	struct proto_reader fields = proto_reader_of(load->bytes, load->size);
	struct proto_field field;
	int got, err = 0;

	while (err == 0 && (got = xread_next(load, &fields, &field, "the file")) != 0) {
		if (got < 0)
			return got;
		if (field.number == XSPACE_PLANES && field.wire == PROTO_BYTES)
			err = add_plane(load, &field);
	}
	return err;
}

static bool has_name(const struct xread_load *load, const struct xread_plane *plane,
		     const char *name)
{
	return !strcmp(xread_string(load, plane->name), name);
}

static bool is_gpu(const struct xread_load *load, const struct xread_plane *plane)
{
	return !strncmp(xread_string(load, plane->name), XSPACE_PLANE_GPU,
			strlen(XSPACE_PLANE_GPU));
}

/* True for a GPU's plane, and in dagtap's files for the plane of activities on no GPU. */
static bool is_device(const struct xread_load *load, const struct xread_plane *plane)
{
	return is_gpu(load, plane) || (load->is_ours && has_name(load, plane, XSPACE_PLANE_NO_GPU));
}

static bool is_tree(const struct xread_load *load, const struct xread_plane *plane)
{
	return has_name(load, plane, XSPACE_PLANE_SCOPES);
}

static bool is_host(const struct xread_load *load, const struct xread_plane *plane)
{
	return !strncmp(xread_string(load, plane->name), "/host:", strlen("/host:")) &&
	       !is_tree(load, plane) && !has_name(load, plane, XSPACE_PLANE_METADATA) &&
	       !has_name(load, plane, XSPACE_PLANE_RECORDING);
}

/* Reads the plane's own stats. Not for the scope tree, whose stats are the tree. */
static int read_facts(struct xread_load *load, struct xread_plane *plane)
{
	struct xread_event facts;
	int result = xread_metas_read(load, plane);

	if (result == 0)
		result = xread_facts(load, plane, &facts);
	xread_metas_release(plane);
	if (result != 0)
		return result;
	plane->pid = xread_number_of(&facts, XSPACE_STAT_PROCESS_ID);
	if (has_name(load, plane, XSPACE_PLANE_ENVIRONMENT))
		load->start_time = xread_number_of(&facts, XSPACE_STAT_START_TIME);
	return 0;
}

/* Gives each plane a process: the one that its stats name, else the first that any plane names. In
 * dagtap's files the recording's plane has listed the processes already. */
static int find_processes(struct xread_load *load)
{
	uint64_t first = 0;

	for (uint32_t i = 0; i < load->planes_count; i++) {
		struct xread_plane *plane = &load->planes[i];
		int err = is_tree(load, plane) ? 0 : read_facts(load, plane);

		if (err < 0)
			return err;
		if (first == 0)
			first = plane->pid;
	}
	/* the same stats are counted again when rows are read */
	memset(load->left_out, 0, sizeof(load->left_out));
	for (uint32_t i = 0; i < load->planes_count && load->origins_count == 0; i++) {
		struct xread_plane *plane = &load->planes[i];
		int64_t process = xread_process(load, (uint32_t)(plane->pid ? plane->pid : first));

		if (process < 0)
			return -ENOMEM;
		plane->process = (uint32_t)process;
	}
	return load->import.trace->processes_count ? 0 : (int)xread_process(load, 0);
}

/* Adds the agents of all GPU planes, because copies name agents whose plane may come later. */
static int list_agents(struct xread_load *load)
{
	for (uint32_t i = 0; i < load->planes_count; i++) {
		const struct xread_plane *plane = &load->planes[i];

		if (is_gpu(load, plane) &&
		    import_agent(&load->import, plane->process,
				 xread_ordinal(xread_string(load, plane->name))) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int read_plane(struct xread_load *load, struct xread_plane *plane,
		      int (*read)(struct xread_load *, struct xread_plane *))
{
	int result = xread_metas_read(load, plane);

	if (result == 0)
		result = read(load, plane);
	xread_metas_release(plane);
	if (load->options && load->options->progress)
		load->options->progress(load->options->progress_context,
					(uint64_t)(plane->body.end - load->bytes), load->size);
	return result;
}

/* The kinds of planes in the order in which they are read: scopes before the rows inside of them,
 * GPUs before the host's calls that refer to them. */
static const struct {
	bool (*is_it)(const struct xread_load *load, const struct xread_plane *plane);
	int (*read)(struct xread_load *load, struct xread_plane *plane);
} kinds[] = {{is_tree, xread_tree}, {is_device, xread_device}, {is_host, xread_host}};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

/* True for planes with rows, and for planes that state something in their own stats only. */
static bool is_known(const struct xread_load *load, const struct xread_plane *plane)
{
	for (size_t kind = 0; kind < KIND_COUNT; kind++) {
		if (kinds[kind].is_it(load, plane))
			return true;
	}
	return has_name(load, plane, XSPACE_PLANE_METADATA) ||
	       has_name(load, plane, XSPACE_PLANE_ENVIRONMENT) ||
	       has_name(load, plane, XSPACE_PLANE_RECORDING);
}

/* Reads dagtap's own plane, if there is one, before all others. */
static int read_recording(struct xread_load *load)
{
	for (uint32_t i = 0; i < load->planes_count; i++) {
		if (!has_name(load, &load->planes[i], XSPACE_PLANE_RECORDING))
			continue;
		load->is_ours = load->import.is_complete = true;
		return read_plane(load, &load->planes[i], xread_recording);
	}
	return 0;
}

/* Keeps the planes of another tool's file that are not read, so that they can be written again. */
static int keep_planes(struct xread_load *load)
{
	struct trace *trace = load->import.trace;
	struct proto kept = {0};

	for (uint32_t i = 0; i < load->planes_count && !load->is_ours; i++) {
		const struct xread_plane *plane = &load->planes[i];

		if (!is_known(load, plane) || has_name(load, plane, XSPACE_PLANE_METADATA))
			proto_put_bytes(&kept, XSPACE_PLANES, plane->body.at,
					(size_t)(plane->body.end - plane->body.at));
	}
	trace->xspace_planes = kept.bytes;
	trace->xspace_planes_bytes = kept.used;
	return kept.error;
}

static int read_planes(struct xread_load *load)
{
	int result = keep_planes(load);

	for (uint32_t i = 0; i < load->planes_count; i++)
		load->left_out[XREAD_LEFT_OUT_PLANE] += !is_known(load, &load->planes[i]);

	for (size_t kind = 0; kind < KIND_COUNT; kind++) {
		for (uint32_t i = 0; i < load->planes_count && result == 0; i++) {
			if (kinds[kind].is_it(load, &load->planes[i]))
				result = read_plane(load, &load->planes[i], kinds[kind].read);
		}
	}
	return result;
}

static int fill(struct xread_load *load)
{
	int result = list_planes(load);

	if (result == 0)
		result = read_recording(load);
	if (result == 0)
		result = find_processes(load);
	if (result == 0)
		result = read_warnings(load);
	if (result == 0)
		result = list_agents(load);
	if (result == 0)
		result = read_planes(load);
	if (result == 0)
		result = xread_join(load);
	return result == 0 ? xread_conclude(load) : result;
}

static void release(struct xread_load *load)
{
	numbers_release(&load->scopes);
	numbers_release(&load->work_texts);
	for (uint32_t i = 0; i < load->planes_count; i++)
		xread_metas_release(&load->planes[i]);
	free(load->planes);
	free(load->origins);
	free(load->text_works);
	free(load->attributes);
}

int xspace_open(const struct read_file *file, const struct trace_options *options,
		struct trace **ret_trace, struct dagtap_error *error)
{
	struct xread_load load = {
		.name = file->name,
		.bytes = file->bytes,
		.size = file->size,
		.error = error,
		.options = options,
	};
	int err = import_begin(&load.import);

	load.import.scope_numbers = XSPACE_SCOPE_NUMBERED;
	if (err == 0)
		err = fill(&load);
	release(&load);
	return import_end(&load.import, err, file->name, ret_trace, error);
}
