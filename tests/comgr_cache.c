/*
 * libamd_comgr.so as the tests load it: the installed one, which it depends on, with a cache in
 * front of its compiler.
 *
 * Each process that uses HIP compiles HIP's own kernels and those of the example, which takes far
 * longer than most tests. All compile the same sources. Here the first process compiles, and stores
 * in COMGR_CACHE what the compiler returned; the others read it. HIP finds this library because
 * tests/run.sh puts its folder first into LD_LIBRARY_PATH. HIP looks up each function in it, and
 * finds all but amd_comgr_do_action in the installed library, COMGR_INSTALLED.
 *
 * The name of an entry is the hash of what the result depends on: the compiler's file, the action,
 * its options and its inputs. Logs, which name temporary files, are not among them and are not
 * stored. A failed action is not stored either. Without an entry that can be read or written, the
 * compiler does the work.
 */
#define XXH_INLINE_ALL
#include <amd_comgr.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define SUCCESS AMD_COMGR_STATUS_SUCCESS

typedef amd_comgr_status_t action_function(amd_comgr_action_kind_t, amd_comgr_action_info_t,
					   amd_comgr_data_set_t, amd_comgr_data_set_t);

/* What precedes the name and the bytes of a data object in an entry. */
struct object {
	uint64_t kind, name_size, size;
};

/* Allocates one byte more than SIZE. Returns NULL if DATA is not to be had. */
static char *data_text(amd_comgr_status_t get(amd_comgr_data_t, size_t *, char *),
		       amd_comgr_data_t data, uint64_t *ret_size)
{
	size_t size;
	char *text;

	if (get(data, &size, NULL) != SUCCESS)
		return NULL;
	text = malloc(size + 1);
	if (text && get(data, &size, text) != SUCCESS) {
		free(text);
		return NULL;
	}
	*ret_size = size;
	return text;
}

static bool write_data(FILE *file, uint64_t kind, amd_comgr_data_t data)
{
	struct object object = {.kind = kind};
	char *name = data_text(amd_comgr_get_data_name, data, &object.name_size);
	char *bytes = data_text(amd_comgr_get_data, data, &object.size);
	bool good = name && bytes;

	if (good) {
		fwrite(&object, sizeof(object), 1, file);
		fwrite(name, object.name_size, 1, file);
		fwrite(bytes, object.size, 1, file);
	}
	free(name);
	free(bytes);
	return good;
}

/* Writes all data objects of SET but logs, by kind. */
static bool write_set(FILE *file, amd_comgr_data_set_t set)
{
	bool good = true;

	for (unsigned kind = 1; kind <= AMD_COMGR_DATA_KIND_LAST; kind++) {
		size_t count = 0;

		if (kind == AMD_COMGR_DATA_KIND_LOG)
			continue;
		/* Fails, and leaves the count, for a number that is no kind. */
		amd_comgr_action_data_count(set, kind, &count);
		for (size_t i = 0; i < count && good; i++) {
			amd_comgr_data_t data;

			good = amd_comgr_action_data_get_data(set, kind, i, &data) == SUCCESS;
			if (!good)
				break;
			good = write_data(file, kind, data);
			amd_comgr_release_data(data);
		}
	}
	return good;
}

/* True if there is something to compile or link. Other actions, such as taking a bundle apart, need
 * no processor, and the name of none crashes amd_comgr_action_info_get_isa_name. */
static bool is_compilation(amd_comgr_data_set_t inputs)
{
	static const amd_comgr_data_kind_t kinds[] = {AMD_COMGR_DATA_KIND_SOURCE,
						      AMD_COMGR_DATA_KIND_BC,
						      AMD_COMGR_DATA_KIND_RELOCATABLE};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t count = 0;

		amd_comgr_action_data_count(inputs, kinds[i], &count);
		if (count > 0)
			return true;
	}
	return false;
}

static bool write_options(FILE *file, amd_comgr_action_info_t info)
{
	char text[4096];
	size_t size, count = 0;
	amd_comgr_language_t language;
	bool logs;

	if (amd_comgr_action_info_get_isa_name(info, &size, NULL) != SUCCESS ||
	    size > sizeof(text) ||
	    amd_comgr_action_info_get_isa_name(info, &size, text) != SUCCESS ||
	    amd_comgr_action_info_get_language(info, &language) != SUCCESS ||
	    amd_comgr_action_info_get_logging(info, &logs) != SUCCESS ||
	    amd_comgr_action_info_get_option_list_count(info, &count) != SUCCESS)
		return false;
	fprintf(file, "%.*s %d %d\n", (int)size, text, language, logs);
	for (size_t i = 0; i < count; i++) {
		if (amd_comgr_action_info_get_option_list_item(info, i, &size, NULL) != SUCCESS ||
		    size > sizeof(text) ||
		    amd_comgr_action_info_get_option_list_item(info, i, &size, text) != SUCCESS)
			return false;
		fwrite(text, size, 1, file);
	}
	return true;
}

/* The compiler: its file's size and time. */
static bool write_compiler(FILE *file)
{
	struct stat state;

	if (stat(COMGR_INSTALLED, &state))
		return false;
	fprintf(file, "%ld %ld.%09ld\n", (long)state.st_size, (long)state.st_mtim.tv_sec,
		state.st_mtim.tv_nsec);
	return true;
}

/* Fills PATH, the entry's. */
static bool entry_path(char path[512], amd_comgr_action_kind_t action, amd_comgr_action_info_t info,
		       amd_comgr_data_set_t inputs)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	bool good;

	if (!file)
		return false;
	fprintf(file, "%d\n", action);
	good = write_compiler(file) && write_options(file, info) && write_set(file, inputs);
	good = !fclose(file) && good;
	if (good) {
		XXH128_hash_t hash = XXH3_128bits(text, size);

		snprintf(path, 512, COMGR_CACHE "/%016llx%016llx", (unsigned long long)hash.high64,
			 (unsigned long long)hash.low64);
	}
	free(text);
	return good;
}

/* Adds to RESULTS what ENTRY of SIZE bytes holds, which write_set has written. */
static bool add_objects(amd_comgr_data_set_t results, const char *entry, size_t size)
{
	const char *end = entry + size;

	while (entry < end) {
		struct object object;
		amd_comgr_data_t data;
		bool good;

		memcpy(&object, entry, sizeof(object));
		entry += sizeof(object);
		if (amd_comgr_create_data(object.kind, &data) != SUCCESS)
			return false;
		good = amd_comgr_set_data_name(data, entry) == SUCCESS &&
		       amd_comgr_set_data(data, object.size, entry + object.name_size) == SUCCESS &&
		       amd_comgr_data_set_add(results, data) == SUCCESS;
		amd_comgr_release_data(data);
		if (!good)
			return false;
		entry += object.name_size + object.size;
	}
	return true;
}

/* Returns the entry's bytes, or NULL. */
static char *entry_read(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "re");
	char *entry = NULL;
	struct stat state;

	if (!file)
		return NULL;
	if (!fstat(fileno(file), &state))
		entry = malloc(state.st_size + 1);
	if (entry && fread(entry, 1, state.st_size, file) == (size_t)state.st_size) {
		*ret_size = state.st_size;
	} else {
		free(entry);
		entry = NULL;
	}
	fclose(file);
	return entry;
}

static void entry_write(const char *path, amd_comgr_data_set_t results)
{
	char name[sizeof(COMGR_CACHE) + 16];
	FILE *file = NULL;
	bool good;
	int fd;

	mkdir(COMGR_CACHE, 0777);
	snprintf(name, sizeof(name), "%s/new.XXXXXX", COMGR_CACHE);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		file = fdopen(fd, "w");
	if (!file)
		return;
	good = write_set(file, results) && !ferror(file);
	good = !fclose(file) && good;
	if (!good || rename(name, path))
		unlink(name);
}

amd_comgr_status_t amd_comgr_do_action(amd_comgr_action_kind_t action, amd_comgr_action_info_t info,
				       amd_comgr_data_set_t inputs, amd_comgr_data_set_t results)
{
	void *installed = dlopen(COMGR_INSTALLED, RTLD_NOW);
	action_function *compile = (action_function *)dlsym(installed, "amd_comgr_do_action");
	amd_comgr_status_t status;
	char path[512], *entry;
	size_t size;

	if (!is_compilation(inputs) || !entry_path(path, action, info, inputs))
		return compile(action, info, inputs, results);
	entry = entry_read(path, &size);
	if (entry) {
		status = add_objects(results, entry, size) ? SUCCESS : AMD_COMGR_STATUS_ERROR;
		free(entry);
		return status;
	}
	status = compile(action, info, inputs, results);
	if (status == SUCCESS)
		entry_write(path, results);
	return status;
}
