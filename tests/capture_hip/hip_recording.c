/* Records a program on the software GPU (hip_recording.h). */
#include "hip_recording.h"
#include "../launched.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/load.h"

enum { OUTPUT_MOST = 65536, PATH_MOST = 4096 };

static void play(const char *const *words, const char *environment, const char *spool)
{
	const char *build = getenv("BUILD_DIR");
	/* must be the first preloaded library; may be empty */
	const char *runtime = getenv("SANITIZER_RUNTIME");
	char program[PATH_MOST], tool[PATH_MOST], preload[2 * PATH_MOST], softgpu[PATH_MOST];

	snprintf(program, sizeof(program), "%s/%s", build, words[0]);
	snprintf(tool, sizeof(tool), "%s/lib/dagtap/libdagtap-inject.so", build);
	snprintf(preload, sizeof(preload), "%s %s", runtime ? runtime : "", tool);
	snprintf(softgpu, sizeof(softgpu), "%s/lib/dagtap/softgpu", build);
	setenv("LD_PRELOAD", preload, 1);
	setenv("HSA_TOOLS_LIB", tool, 1);
	setenv("LD_LIBRARY_PATH", softgpu, 1);
	setenv("DAGTAP_SPOOL", spool, 1);
	if (environment)
		putenv(strdup(environment));
	execv(program, (char *const *)words);
	_exit(127);
}

static char *read_output(int from)
{
	char *text = calloc(1, OUTPUT_MOST);
	size_t used = 0;
	ssize_t got;

	assert_non_null(text);
	while (used < OUTPUT_MOST - 1 &&
	       (got = read(from, text + used, OUTPUT_MOST - 1 - used)) > 0)
		used += (size_t)got;
	return text;
}

static void collect(struct recording *recording)
{
	struct spool_cursor cursor;
	size_t room = 0;

	for (uint32_t w = 0; w < spool_reader_writer_count(recording->reader); w++) {
		spool_cursor_init(&cursor, recording->reader, w);
		for (;;) {
			if (recording->record_count == room) {
				room = room ? room * 2 : 1024;
				recording->records = realloc(recording->records,
							     room * sizeof(*recording->records));
				assert_non_null(recording->records);
			}
			if (!spool_cursor_next(&cursor,
					       &recording->records[recording->record_count]))
				break;
			recording->record_count++;
		}
	}
}

/* Opens the only spool and removes the folder. The reader keeps its mapping of the file. */
static void take_spools(struct recording *recording, const char *folder)
{
	DIR *entries = opendir(folder);
	struct dagtap_error error;
	char path[PATH_MOST];

	assert_non_null(entries);
	for (struct dirent *entry; (entry = readdir(entries));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (recording->spool_count++ == 0)
			assert_int_equal(spool_reader_open(path, &recording->reader, &error), 0);
		unlink(path);
	}
	closedir(entries);
	rmdir(folder);
	if (recording->spool_count == 1)
		collect(recording);
}

/* Runs the program in a child and leaves its spools in FOLDER, a mkdtemp template that this
 * function completes. */
static void run(struct recording *recording, const char *const *words, const char *environment,
		char *folder)
{
	int ends[2], status;
	pid_t pid;

	assert_non_null(getenv("BUILD_DIR"));
	assert_non_null(mkdtemp(folder));
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(ends[0]);
		dup2(ends[1], STDOUT_FILENO);
		play(words, environment, folder);
	}
	close(ends[1]);
	recording->output = read_output(ends[0]);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	recording->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct recording *recording_make(const char *program, const char *argument, const char *environment)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	char folder[TEST_PATH_BYTES];

	assert_non_null(recording);
	run(recording, (const char *const[]){program, argument, NULL}, environment,
	    test_path(folder, "recording"));
	take_spools(recording, folder);
	return recording;
}

struct trace *recording_load(const char *const *words, char **ret_output)
{
	char folder[TEST_PATH_BYTES];
	struct recording recording = {0};
	struct dagtap_error error;
	struct trace *trace;

	run(&recording, words, NULL, test_path(folder, "recording"));
	if (recording.exit_code)
		fail_msg("%s: exit code %d", words[0], recording.exit_code);
	if (trace_open(folder, NULL, &trace, &error) < 0)
		fail_msg("%s", error.message);
	take_spools(&recording, folder);
	spool_reader_close(recording.reader);
	free(recording.records);
	*ret_output = recording.output;
	return trace;
}

void recording_free(struct recording *recording)
{
	spool_reader_close(recording->reader);
	free(recording->records);
	free(recording->output);
	free(recording);
}

uint64_t recording_said(const struct recording *recording, const char *name, size_t n)
{
	size_t length = strlen(name);

	for (const char *line = recording->output; line && *line;) {
		const char *end = strchr(line, '\n');

		if (!strncmp(line, name, length) && line[length] == ' ' && n-- == 0)
			return strtoull(line + length, NULL, 16);
		line = end ? end + 1 : NULL;
	}
	fail_msg("the program did not print %s", name);
	return 0;
}

const void *recording_find(const struct recording *recording, enum record_type type, size_t n)
{
	for (size_t i = 0; i < recording->record_count; i++)
		if (recording->records[i].type == type && n-- == 0)
			return recording->records[i].header;
	return NULL;
}

size_t recording_count(const struct recording *recording, enum record_type type)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->record_count; i++)
		count += recording->records[i].type == type;
	return count;
}

static const struct record_api_name *find_name(const struct recording *recording, uint32_t function)
{
	const struct record_api_name *name;

	for (size_t i = 0; (name = recording_find(recording, RECORD_API_NAME, i)); i++)
		if (name->header.tag == function)
			return name;
	fail_msg("op %u has no name", function);
	return NULL;
}

const char *recording_call_name(const struct recording *recording, uint32_t function)
{
	static char text[128];
	const struct record_api_name *name = find_name(recording, function);
	const char *end = memchr(name->text, ' ', name->text_bytes);

	snprintf(text, sizeof(text), "%.*s", (int)(end ? end - name->text : (long)name->text_bytes),
		 name->text);
	return text;
}

const struct record_api *recording_find_call(const struct recording *recording, const char *name,
					     size_t n)
{
	const struct record_api *api;

	for (size_t i = 0; (api = recording_find(recording, RECORD_API, i)); i++)
		if (!strcmp(recording_call_name(recording, api->header.tag), name) && n-- == 0)
			return api;
	return NULL;
}

uint64_t recording_argument(const struct recording *recording, const struct record_api *api,
			    const char *name)
{
	const struct record_api_name *known = find_name(recording, api->header.tag);
	char text[1024], *rest = text;
	size_t index = 0, length = strlen(name);

	snprintf(text, sizeof(text), "%.*s", (int)known->text_bytes, known->text);
	strtok_r(rest, " ", &rest);
	for (char *word; (word = strtok_r(rest, " ", &rest));) {
		const char *kind = strchr(word, ':');

		assert_non_null(kind);
		if ((size_t)(kind - word) == length && !strncmp(word, name, length))
			return api->args[index];
		index += kind[1] == 'd' ? 2 : 1;
	}
	fail_msg("no argument %s in %s", name, text);
	return 0;
}

uint64_t recording_witness(const struct recording *recording, const char *source, const char *key)
{
	const struct record_witness *witness;
	uint64_t value = 0, ns = 0;
	uint32_t number = 0;
	bool found = false;

	for (size_t i = 0; (witness = recording_find(recording, RECORD_WITNESS, i)); i++) {
		if (strncmp(witness->source, source, sizeof(witness->source)) != 0 ||
		    strncmp(witness->key, key, sizeof(witness->key)) != 0 || witness->ns < ns ||
		    (witness->ns == ns && witness->header.tag < number))
			continue;
		value = witness->value;
		ns = witness->ns;
		number = witness->header.tag;
		found = true;
	}
	assert_true(found);
	return value;
}

struct recording *recording_of_scene(const char *scene)
{
	struct recording *r = recording_make("tests/hip-scenes", scene, NULL);

	assert_int_equal(r->exit_code, 0);
	assert_int_equal(r->spool_count, 1);
	return r;
}

void recording_assert_complete(const struct recording *r)
{
	assert_int_equal(recording_witness(r, "hip", "calls"), recording_count(r, RECORD_API));
	assert_int_equal(recording_witness(r, "hip", "open"), 0);
}
