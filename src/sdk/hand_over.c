/* Finds dispatch tables in memory: see hand_over.h. */
#include "sdk/hand_over.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
	const char *table;				      /* its name in rocprofiler-register */
	const char *library;				      /* how the file's name begins */
	size_t least, most;				      /* functions of a table */
	uint64_t (*prepare)(void *library, const char *path); /* has the table made; its version */
};

/* 10000 x major + 100 x minor, of the name of the file: libamdhip64.so.7.2.4. */
static uint64_t version_of_name(const char *path)
{
	char real[PATH_MAX];
	const char *number = realpath(path, real) ? strstr(real, ".so.") : NULL;
	unsigned major, minor = 0;

	if (!number || sscanf(number, ".so.%u.%u", &major, &minor) < 1)
		return 0;
	return 10000ull * major + 100ull * (minor < 100 ? minor : 99);
}

static uint64_t prepare_hip(void *library, const char *path)
{
	const char *(*name_of)(int) = (const char *(*)(int))dlsym(library, "hipGetErrorName");

	if (!name_of)
		return 0;
	name_of(0);
	return version_of_name(path);
}

static uint64_t prepare_rccl(void *library, const char *path)
{
	int (*get_version)(int *) = (int (*)(int *))dlsym(library, "ncclGetVersion");
	int version = 0;

	return get_version && get_version(&version) == 0 ? (uint64_t)version : 0;
}

static const struct part parts[] = {
	{"hip", "libamdhip64.so.", 400, 800, prepare_hip},
	{"rccl", "librccl.so.", 32, 80, prepare_rccl},
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* There is no lock: a library's first call waits for other threads that are inside of it, and
 * these come to hand_over_leave. */
static _Atomic bool is_handed_over[PARTS];

static _Thread_local const char *registering; /* as hand_over_registering has it */
static _Thread_local bool is_handing_over;

struct span {
	uintptr_t begin, end;
};

struct image {
	const struct part *part;
	char path[PATH_MAX];	  /* "": the library is not loaded */
	struct span code, sealed; /* SEALED: read only after relocation */
	uint64_t *table;
	unsigned found;
};

/* ---- searching ---- */

static bool is_in(uintptr_t address, struct span span)
{
	return address >= span.begin && address < span.end;
}

/* Whether WORDS, with COUNT words behind the first, is a table of the library. */
static bool is_table(const struct image *image, const uint64_t *words, size_t count)
{
	size_t empty = 0;

	for (size_t i = 1; i <= count; i++) {
		empty += words[i] == 0;
		if (words[i] && !is_in(words[i], image->code))
			return false;
	}
	return empty < count / 4;
}

static void search(struct image *image, struct span span)
{
	uint64_t *words = (uint64_t *)((span.begin + 7) & ~(uintptr_t)7);
	uint64_t *end = (uint64_t *)(span.end & ~(uintptr_t)7);

	for (; words < end; words++) {
		size_t count = words[0] / sizeof(*words) - 1;

		if (words[0] % sizeof(*words) || count < image->part->least ||
		    count > image->part->most || count >= (size_t)(end - words) ||
		    is_in((uintptr_t)words, image->sealed) || !is_table(image, words, count))
			continue;
		image->table = words;
		image->found++;
	}
}

static struct span span_of(const struct dl_phdr_info *info, const ElfW(Phdr) * segment)
{
	uintptr_t begin = info->dlpi_addr + segment->p_vaddr;

	return (struct span){begin, begin + segment->p_memsz};
}

/* Of dl_iterate_phdr. */
static int note_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct image *image = data;
	const char *name = strrchr(info->dlpi_name, '/');

	if (!name || strncmp(name + 1, image->part->library, strlen(image->part->library)) != 0)
		return 0;
	snprintf(image->path, sizeof(image->path), "%s", info->dlpi_name);
	return 1;
}

static int search_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct image *image = data;

	if (strcmp(info->dlpi_name, image->path) != 0)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_GNU_RELRO)
			image->sealed = span_of(info, segment);
		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
			image->code = span_of(info, segment);
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_W)
			search(image, span_of(info, segment));
	}
	return 1;
}

/* ---- handing over ---- */

/* Whether the table of part NUMBER is to be searched now. */
static bool is_wanted(size_t number)
{
	return !atomic_load(&is_handed_over[number]) &&
	       (!registering || strcmp(registering, parts[number].table) != 0);
}

static void hand_over(size_t number, set_api_table *take)
{
	struct image image = {.part = &parts[number]};
	uint64_t version;
	void *library;

	dl_iterate_phdr(note_library, &image);
	library = *image.path ? dlopen(image.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	version = library ? image.part->prepare(library, image.path) : 0;
	/* The library may have registered its table meanwhile. */
	if (version && is_wanted(number))
		dl_iterate_phdr(search_library, &image);
	/* The library is never unloaded: its handle is kept. */
	if (image.found == 1 && !atomic_exchange(&is_handed_over[number], true))
		take(image.part->table, version, 0, (void *[]){image.table}, 1);
}

void hand_over_tables(set_api_table *take)
{
	/* A library's first call may come here again. */
	if (is_handing_over)
		return;
	is_handing_over = true;
	for (size_t i = 0; i < PARTS; i++)
		if (is_wanted(i))
			hand_over(i, take);
	is_handing_over = false;
}

const char *hand_over_registering(const char *name)
{
	const char *before = registering;

	registering = name;
	return before;
}

void hand_over_leave(const char *name)
{
	for (size_t i = 0; i < PARTS; i++)
		if (!strcmp(name, parts[i].table))
			atomic_store(&is_handed_over[i], true);
}
