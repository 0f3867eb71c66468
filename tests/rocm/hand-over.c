/*
 * AMD's own builds of HIP, RCCL and ROCr hand their dispatch tables to rocprofiler-register, which
 * gives them to the tool; Debian's builds do not. Preloaded, this library does it for them, with
 * Debian's real librocprofiler-register, before the program begins. It finds the tables by their
 * sizes, which are their first words: in the library's writable data, followed by pointers into its
 * code.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-register/rocprofiler-register.h>

/* In this order: each of these HIP headers uses declarations of the previous ones. */
#include <hip/hip_runtime_api.h>

#include <hip/hip_deprecated.h>
#include <hip/hip_gl_interop.h>

#include <hip/amd_detail/hip_api_trace.hpp>

#if __has_include(<rccl/rccl.h>)
#include <rccl/amd_detail/api_trace.h>
#include <rccl/rccl.h>
#define HAS_RCCL 1
#endif

#define TEXT(name)		     #name
#define NUMBER(name)		     TEXT(name)
#define VERSION(major, minor, patch) (10000 * (major) + 100 * (minor) + (patch))
#define HIP_TABLE_VERSION	     VERSION(HIP_VERSION_MAJOR, HIP_VERSION_MINOR, 0)

struct part {
	const char *table; /* the name that rocprofiler-register knows */
	const char *library;
	const char *first; /* a function of the library that initialises nothing, and takes 0 */
	/* of the table by this library's headers; the table begins with its size */
	size_t bytes;
	uint32_t version; /* with which the library registers; for RCCL it is NCCL's version */
};

static const struct part parts[] = {
	{"hip", "libamdhip64.so." NUMBER(HIP_VERSION_MAJOR), "hipGetErrorName",
	 sizeof(struct HipDispatchTable), HIP_TABLE_VERSION},
#ifdef HAS_RCCL
	{"rccl", "librccl.so.1", "ncclGetVersion", sizeof(rcclApiFuncTable),
	 VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH)},
#endif
};

struct image {
	const char *name;
	const struct part *part;
	uintptr_t code_begin, code_end;
	uint64_t *table;
	uint32_t tables_found;
};

static bool is_table(const struct image *image, const uint64_t *words)
{
	size_t count = image->part->bytes / sizeof(*words) - 1;
	size_t empty = 0;

	if (words[0] != image->part->bytes)
		return false;
	for (size_t i = 1; i <= count; i++) {
		empty += words[i] == 0;
		if (words[i] && (words[i] < image->code_begin || words[i] >= image->code_end))
			return false;
	}
	return empty < count / 4;
}

static void search_segment(struct image *image, uintptr_t begin, size_t bytes)
{
	uint64_t *words = (uint64_t *)((begin + 7) & ~(uintptr_t)7);
	uint64_t *last = (uint64_t *)(begin + bytes - image->part->bytes);

	for (; bytes >= image->part->bytes && words <= last; words++) {
		if (!is_table(image, words))
			continue;
		image->table = words;
		image->tables_found++;
	}
}

static int search_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct image *image = data;
	const char *name = strrchr(info->dlpi_name, '/');

	if (!name || strcmp(name + 1, image->name) != 0)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		image->code_begin = info->dlpi_addr + segment->p_vaddr;
		image->code_end = image->code_begin + segment->p_memsz;
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W))
			search_segment(image, info->dlpi_addr + segment->p_vaddr, segment->p_memsz);
	}
	return 1;
}

static void give_up(const char *what, const char *why)
{
	fprintf(stderr, "hand-over: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

/*
 * The version of the table that is being registered; in the libraries these functions return a
 * constant.
 */
static uint32_t registered_version;

static uint32_t import(void)
{
	return registered_version;
}

static void register_table(const char *name, uint32_t version, void *table)
{
	rocprofiler_register_library_indentifier_t id;
	rocprofiler_register_error_code_t error;

	registered_version = version;
	error = rocprofiler_register_library_api_table(name, import, version, &table, 1, &id);
	if (error != ROCP_REG_SUCCESS)
		give_up(name, rocprofiler_register_error_string(error));
}

/* The library makes its table in the first call, which bypasses the tool's wrapper. */
static void hand_over(const struct part *part)
{
	struct image image = {.name = part->library, .part = part};
	void *library = dlopen(part->library, RTLD_LAZY | RTLD_NOLOAD);
	void (*first)(void *);

	if (!library)
		return;
	first = (void (*)(void *))dlsym(library, part->first);
	if (first)
		first(NULL);
	dl_iterate_phdr(search_library, &image);
	if (image.tables_found != 1)
		give_up(part->library, "its dispatch table was not found");
	register_table(part->table, part->version, image.table);
}

/*
 * ROCr calls this as for a tool of the old interface. Registers the tables instead, and does not
 * call the other tools.
 */
__attribute__((visibility("default"))) bool OnLoad(void *table, uint64_t runtime_version,
						   uint64_t failed_tool_count,
						   const char *const *failed_tool_names)
{
	register_table("hsa", HIP_TABLE_VERSION, table);
	return true;
}

__attribute__((constructor)) static void begin(void)
{
	Dl_info self;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		hand_over(&parts[i]);
	if (dladdr(parts, &self))
		setenv("HSA_TOOLS_LIB", self.dli_fname, 1);
}
