/* Finds dispatch tables in memory: see hand_over.h. */
#include "sdk/hand_over.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
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

static bool is_handed_over[PARTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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

static bool hand_over(const struct part *part, set_api_table *take)
{
	struct image image = {.part = part};
	uint64_t version;
	void *library;

	dl_iterate_phdr(note_library, &image);
	library = *image.path ? dlopen(image.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	version = library ? part->prepare(library, image.path) : 0;
	if (version)
		dl_iterate_phdr(search_library, &image);
	/* The library is never unloaded: its handle is kept. */
	if (image.found != 1)
		return false;
	take(part->table, version, 0, (void *[]){image.table}, 1);
	return true;
}

void hand_over_tables(set_api_table *take)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < PARTS; i++)
		if (!is_handed_over[i])
			is_handed_over[i] = hand_over(&parts[i], take);
	pthread_mutex_unlock(&lock);
}

void hand_over_leave(const char *name)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < PARTS; i++)
		is_handed_over[i] |= !strcmp(name, parts[i].table);
	pthread_mutex_unlock(&lock);
}
