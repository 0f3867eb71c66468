/* Opening recordings (see load.h): finds the spools in a file or folder, sorts them by process, and
 * loads one after the other. */
#include "trace/load.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strtab.h"
#include "record/spool.h"
#include "record/spool_reader.h"
#include "trace/create.h"
#include "trace/ingest.h"
#include "trace/load_ranks.h"
#include "trace/pack/bundle.h"
#include "trace/row_table.h"

#define MAGIC_BYTES 8

/* An open recording: its spools, and what they are read from. */
struct recording {
	const char *name;
	struct bundle bundle; /* zero if the recording is not a .dagtap */
	struct origin *origins;
	uint32_t origin_count;
	struct dagtap_error *refused; /* one line per spool that could not be read */
	uint32_t refused_count;
	/* At least one refused file is a spool that was cut off in its header: damage, not a
	 * foreign file. */
	bool has_cut;
};

static void close_recording(struct recording *recording)
{
	for (uint32_t i = 0; i < recording->origin_count; i++)
		origin_close(&recording->origins[i]);
	free(recording->origins);
	free(recording->refused);
	bundle_close(&recording->bundle);
}

/* Takes ORIGIN, also on failure. */
static int keep_origin(struct recording *recording, struct origin origin)
{
	struct origin *place =
		table_add((void **)&recording->origins, &recording->origin_count, sizeof(*place));

	if (!place) {
		origin_close(&origin);
		return -ENOMEM;
	}
	*place = origin;
	return 0;
}

/* Remembers why a spool could not be read. The other spools are loaded all the same. */
static int keep_refusal(struct recording *recording, const struct dagtap_error *refusal)
{
	struct dagtap_error *place =
		table_add((void **)&recording->refused, &recording->refused_count, sizeof(*place));

	if (!place)
		return -ENOMEM;
	*place = *refusal;
	recording->has_cut |= refusal->code == -ENODATA;
	return 0;
}

static int add_spool_file(struct recording *recording, const char *path)
{
	struct spool_reader *reader;
	struct dagtap_error refusal;
	int result = spool_reader_open_unchecked(path, &reader, &refusal);

	if (result == -ENOMEM)
		return result;
	return result < 0 ? keep_refusal(recording, &refusal)
			  : keep_origin(recording, (struct origin){.spool = reader});
}

static int add_spool_bytes(struct recording *recording, const char *name, const void *bytes,
			   size_t size)
{
	struct spool_reader *reader;
	struct dagtap_error refusal;
	int result = spool_reader_open_memory_unchecked(bytes, size, name, &reader, &refusal);

	if (result == -ENOMEM)
		return result;
	return result < 0 ? keep_refusal(recording, &refusal)
			  : keep_origin(recording, (struct origin){.spool = reader});
}

static int add_packed(struct recording *recording, const struct bundle_section *section)
{
	const struct pack_section packed = {
		.file = recording->name,
		.offset = section->offset,
		.bytes = section->bytes,
		.size = section->size,
	};
	struct pack_reader *reader;
	struct dagtap_error refusal;
	int result = pack_reader_open(&packed, &reader, &refusal);

	if (result == -ENOMEM)
		return result;
	return result < 0 ? keep_refusal(recording, &refusal)
			  : keep_origin(recording, (struct origin){.pack = reader});
}

static int add_bundle(struct recording *recording)
{
	int err = 0;

	for (uint32_t i = 0; i < recording->bundle.section_count && err == 0; i++) {
		const struct bundle_section *section = &recording->bundle.sections[i];
		uint32_t before = recording->origin_count;

		if (section->type == BUNDLE_SPOOL)
			err = add_spool_bytes(recording, recording->name, section->bytes,
					      section->size);
		else if (section->type == BUNDLE_PACKED)
			err = add_packed(recording, section);
		if (recording->origin_count > before)
			load_ranks_place(&recording->bundle, i, &recording->origins[before]);
	}
	return err;
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t chars = strlen(name), suffix_chars = strlen(suffix);

	return chars > suffix_chars && !strcmp(name + chars - suffix_chars, suffix);
}

static int is_spool_name(const struct dirent *entry)
{
	return ends_with(entry->d_name, SPOOL_SUFFIX);
}

static int is_lost_name(const struct dirent *entry)
{
	return ends_with(entry->d_name, SPOOL_LOST_SUFFIX);
}

/* Reads the names of empty files by which processes report that they have no spool, and why. */
static int add_lost(struct recording *recording)
{
	struct dirent **entries;
	int count = scandir(recording->name, &entries, is_lost_name, alphasort);
	int err = 0;

	for (int i = 0; i < count; i++) {
		struct dagtap_error refusal;
		int pid, code;

		if (err == 0 && sscanf(entries[i]->d_name, "%d.%d", &pid, &code) == 2) {
			dagtap_error_set(&refusal, -EINVAL, "process %d was not recorded: %s", pid,
					 strerror(code));
			err = keep_refusal(recording, &refusal);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return err;
}

static int is_bundle_name(const struct dirent *entry)
{
	return ends_with(entry->d_name, ".dagtap");
}

/* Says that the folder has no spools, and which recordings it has. */
static int tell_no_spools(const char *folder, struct dagtap_error *error)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_bundle_name, alphasort);
	int err = -ENOENT;

	if (count <= 0)
		dagtap_error_set(error, err, "%s: no spools in this folder", folder);
	else if (count == 1)
		dagtap_error_set(error, err, "%s: no spools in this folder; give its recording %s",
				 folder, entries[0]->d_name);
	else
		dagtap_error_set(error, err,
				 "%s: no spools in this folder; give one of its %d recordings, as "
				 "%s, or merge those of a job's ranks with dagtap merge",
				 folder, count, entries[0]->d_name);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
	return err;
}

static int add_folder(struct recording *recording, struct dagtap_error *error)
{
	struct dirent **entries;
	int count = scandir(recording->name, &entries, is_spool_name, alphasort);
	int result = 0;

	if (count < 0)
		return dagtap_error_set(error, -errno, "%s: %s", recording->name,
					strerrordesc_np(errno));
	for (int i = 0; i < count; i++) {
		char *path = NULL;

		if (result == 0 &&
		    asprintf(&path, "%s/%s", recording->name, entries[i]->d_name) < 0)
			result = -ENOMEM;
		if (result == 0)
			result = add_spool_file(recording, path);
		free(path);
		free(entries[i]);
	}
	free(entries);
	if (result == 0)
		result = add_lost(recording);
	if (result == 0 && count == 0 && recording->refused_count == 0)
		return tell_no_spools(recording->name, error);
	return result;
}

static bool is_spool_magic(const void *bytes, size_t size)
{
	return size >= MAGIC_BYTES && !memcmp(bytes, SPOOL_MAGIC, MAGIC_BYTES);
}

static int not_a_recording(const char *name, size_t size, struct dagtap_error *error)
{
	return dagtap_error_at(error, -EINVAL, name, 0,
			       size ? "neither a .dagtap nor a spool, nor another tool's trace "
				      "(unknown first bytes); dagtap --help lists what is read"
				    : "the file is empty");
}

static int open_file(struct recording *recording, struct dagtap_error *error)
{
	char magic[MAGIC_BYTES];
	ssize_t got = -1;
	int fd = open(recording->name, O_RDONLY | O_CLOEXEC);
	int code;

	if (fd >= 0)
		got = read(fd, magic, sizeof(magic));
	code = -errno;
	if (fd >= 0)
		close(fd);
	if (got < 0)
		return dagtap_error_set(error, code, "%s: %s", recording->name,
					strerrordesc_np(-code));
	if (is_spool_magic(magic, (size_t)got))
		return add_spool_file(recording, recording->name);
	if (!bundle_is_magic(magic, (size_t)got))
		return not_a_recording(recording->name, (size_t)got, error);
	code = bundle_open(recording->name, &recording->bundle, error);
	return code < 0 ? code : add_bundle(recording);
}

static int open_path(struct recording *recording, struct dagtap_error *error)
{
	struct stat status;

	if (stat(recording->name, &status) < 0)
		return dagtap_error_set(error, -errno, "%s: %s", recording->name,
					strerrordesc_np(errno));
	if (S_ISDIR(status.st_mode))
		return add_folder(recording, error);
	if (!S_ISREG(status.st_mode))
		return dagtap_error_set(error, -EINVAL, "%s: neither a file nor a folder",
					recording->name);
	return open_file(recording, error);
}

/* When the process of ORIGIN started, on the clock of the recording. */
static int64_t start_of(const struct origin *origin)
{
	int64_t ns = (int64_t)origin_info(origin)->start_ns;

	return origin->clock ? rank_clock_map(origin->clock, ns) : ns;
}

static int compare_origins(const void *left, const void *right)
{
	const struct spool_info *a = origin_info(left);
	const struct spool_info *b = origin_info(right);
	int64_t a_ns = start_of(left), b_ns = start_of(right);

	if (a_ns != b_ns)
		return a_ns < b_ns ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->session_id > b->session_id) - (a->session_id < b->session_id);
}

static int tell_loss(struct trace *trace, struct strtab *strings, const char *line, size_t bytes)
{
	struct trace_message *message = trace_add(trace, messages);

	if (!message)
		return -ENOMEM;
	*message = (struct trace_message){
		.process = TRACE_NONE,
		.damage = true,
		.text = strtab_intern(strings, line, bytes),
	};
	return 0;
}

/* Adds a message for each line of LOSSES: processes that were not recorded. */
static int tell_losses(struct trace *trace, struct strtab *strings, const char *losses)
{
	int err = 0;

	while (losses && *losses && err == 0) {
		size_t bytes = strcspn(losses, "\n");

		if (bytes)
			err = tell_loss(trace, strings, losses, bytes);
		losses += bytes + (losses[bytes] == '\n');
	}
	return err;
}

static int tell_refusals(struct trace *trace, struct strtab *strings,
			 const struct recording *recording)
{
	for (uint32_t i = 0; i < recording->refused_count; i++) {
		struct trace_message *message = trace_add(trace, messages);

		if (!message)
			return -ENOMEM;
		*message = (struct trace_message){
			.process = TRACE_NONE,
			.damage = true,
			.text = strtab_intern_z(strings, recording->refused[i].message),
		};
	}
	return 0;
}

static int fill_trace(struct trace *trace, const struct recording *recording,
		      const struct trace_options *options)
{
	struct strtab *strings = trace_strings(trace);
	struct ingest_progress progress = {
		.options = options,
		.total = (uint64_t)recording->origin_count * ingest_stage_count(),
	};
	int err = 0;

	if (recording->origin_count > 1)
		qsort(recording->origins, recording->origin_count, sizeof(*recording->origins),
		      compare_origins);
	if (recording->bundle.ranks.file_count)
		err = load_ranks_tell(&recording->bundle.ranks, trace);
	for (uint32_t i = 0; i < recording->origin_count && err == 0; i++)
		err = ingest_process(trace, strings, &recording->origins[i], &progress);
	trace->truncated |= recording->has_cut;
	if (err == 0)
		err = tell_refusals(trace, strings, recording);
	if (err == 0)
		err = tell_losses(trace, strings, recording->bundle.meta.losses);
	if (recording->bundle.meta.command)
		trace->command = strtab_intern_z(strings, recording->bundle.meta.command);
	if (recording->bundle.sections)
		trace->exit_status = recording->bundle.meta.exit_status;
	return err == 0 ? trace_seal(trace) : err;
}

static const char *why(int err)
{
	if (err == -E2BIG)
		return "more rows than fit";
	return err == -ESTALE ? "it changed while it was read" : "out of memory";
}

static int finish(struct recording *recording, int result, const struct trace_options *options,
		  struct trace **ret_trace, struct dagtap_error *error)
{
	struct trace *trace = NULL;
	bool is_said = result < 0 && result != -ENOMEM;

	if (result == 0 && recording->origin_count == 0 && recording->refused_count &&
	    !recording->has_cut) {
		*error = recording->refused[0];
		result = error->code;
		is_said = true;
	}
	if (result == 0)
		result = trace_create(&trace);
	if (result == 0)
		result = fill_trace(trace, recording, options);
	if (result < 0 && !is_said)
		dagtap_error_set(error, result, "%s: %s", recording->name, why(result));
	close_recording(recording);
	if (result < 0) {
		trace_close(trace);
		return result;
	}
	*ret_trace = trace;
	return 0;
}

int trace_open(const char *path, const struct trace_options *options, struct trace **ret_trace,
	       struct dagtap_error *error)
{
	struct recording recording = {.name = path};
	struct dagtap_error unused;
	int err = open_path(&recording, error ? error : &unused);

	return finish(&recording, err, options, ret_trace, error ? error : &unused);
}

int trace_open_memory(const char *name, const void *bytes, size_t size, struct trace **ret_trace,
		      struct dagtap_error *error)
{
	struct recording recording = {.name = name};
	struct dagtap_error unused;
	int err;

	if (!error)
		error = &unused;
	if (is_spool_magic(bytes, size)) {
		err = add_spool_bytes(&recording, name, bytes, size);
	} else if (bundle_is_magic(bytes, size)) {
		err = bundle_open_memory(name, bytes, size, &recording.bundle, error);
		if (err == 0)
			err = add_bundle(&recording);
	} else {
		err = not_a_recording(name, size, error);
	}
	return finish(&recording, err, NULL, ret_trace, error);
}

int trace_open_records(const struct record_set *set, const struct trace_options *options,
		       struct trace **ret_trace)
{
	struct recording recording = {.name = "records"};
	struct dagtap_error unused;
	int err = keep_origin(&recording, (struct origin){.set = set});

	return finish(&recording, err, options, ret_trace, &unused);
}
