/* The dispatch tables, their defaults, and the exported functions. There are two generations of
 * tables: that of ROCR 5, and the one since ROCR 6. Tools get one of them, and the exported
 * functions jump through the slots of that one. The extension tables of ROCR 6.4 and 7.2 are the
 * newest table without its last functions: the size in the table's version tells tools that these
 * are missing. Programs can call them all the same. */
#include "softgpu/hsa_table.h"

#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "softgpu/api.h"
#include "softgpu/config.h"

#if !defined(__x86_64__)
#error "the exported functions are jumps through a table: write them for this architecture"
#endif

/* The defaults for functions that no file implements; all of those return a status. */
hsa_status_t softgpu_unsupported(void);
hsa_status_t softgpu_extension_absent(void);

__attribute__((used)) hsa_status_t softgpu_unsupported(void)
{
	return HSA_STATUS_ERROR;
}

/* Returns the status that ROCr returns when the library of an extension was not found. */
__attribute__((used)) hsa_status_t softgpu_extension_absent(void)
{
	return HSA_STATUS_ERROR_NOT_INITIALIZED;
}

/* Defines each function weakly as its default. A strong definition in another file replaces it. */
#define WEAK(name, target)                                                                         \
	__asm__(".weak softgpu_" #name "\n\t.hidden softgpu_" #name "\n\t.set softgpu_" #name      \
		", " #target);
#define WEAK_UNSUPPORTED(index, name) WEAK(name, softgpu_unsupported)
#define WEAK_ABSENT(index, name)      WEAK(name, softgpu_extension_absent)

HSA_CORE_TABLE(WEAK_UNSUPPORTED)
HSA_AMD_EXT_TABLE_2(WEAK_UNSUPPORTED)
HSA_FINALIZER_EXT_TABLE(WEAK_ABSENT)
HSA_IMAGE_EXT_TABLE(WEAK_ABSENT)
HSA_NEWER_IMAGE_EXT_TABLE(WEAK_ABSENT)

#define TABLE_SLOT(index, name) .name##_fn = softgpu_##name,

static const struct hsa_core_table default_core = {HSA_CORE_TABLE(TABLE_SLOT)};
static const struct hsa_amd_ext_table default_amd_ext = {HSA_AMD_EXT_TABLE(TABLE_SLOT)};
static const struct hsa_newer_amd_ext_table default_newer_amd_ext = {
	HSA_AMD_EXT_TABLE_2(TABLE_SLOT)};
static const struct hsa_finalizer_ext_table default_finalizer_ext = {
	HSA_FINALIZER_EXT_TABLE(TABLE_SLOT)};
static const struct hsa_newer_image_ext_table default_image_ext = {
	.old = {HSA_IMAGE_EXT_TABLE(TABLE_SLOT)}, HSA_NEWER_IMAGE_EXT_TABLE(TABLE_SLOT)};

/* Initialized statically, because HIP's static initialisers may call functions before hsa_init. */
struct hsa_core_table softgpu_core = {HSA_CORE_TABLE(TABLE_SLOT)};
static struct hsa_amd_ext_table amd_ext = {HSA_AMD_EXT_TABLE(TABLE_SLOT)};
static struct hsa_newer_amd_ext_table newer_amd_ext = {HSA_AMD_EXT_TABLE_2(TABLE_SLOT)};
struct hsa_finalizer_ext_table softgpu_finalizer_ext = {HSA_FINALIZER_EXT_TABLE(TABLE_SLOT)};
struct hsa_newer_image_ext_table softgpu_image_ext = {.old = {HSA_IMAGE_EXT_TABLE(TABLE_SLOT)},
						      HSA_NEWER_IMAGE_EXT_TABLE(TABLE_SLOT)};
static struct hsa_newer_tools_table tools;
static struct hsa_newer_pc_sampling_table pc_sampling;

#define HEAD_BYTES sizeof(struct hsa_table_version)

/* The slot of each function of the extension table, in the generation that tools get. */
#define NEWER_SLOT(index, name) [index] = (void *)&newer_amd_ext.name##_fn,
#define NEWER_INDEX(name)	((HSA_EXT_2_##name - HEAD_BYTES) / sizeof(void *))

/* Sets a slot to the function of the same name in the generation before. */
#define OLD_SLOT(index, name) softgpu_amd_ext_slots[NEWER_INDEX(name)] = (void *)&amd_ext.name##_fn;

__attribute__((used)) void *softgpu_amd_ext_slots[] = {HSA_AMD_EXT_TABLE_2(NEWER_SLOT)};
static void *const newer_slots[] = {HSA_AMD_EXT_TABLE_2(NEWER_SLOT)};

static struct hsa_newer_api_table root = {
	.old =
		{
			.core = &softgpu_core,
			.amd_ext = &amd_ext,
			.finalizer_ext = &softgpu_finalizer_ext,
			.image_ext = &softgpu_image_ext.old,
		},
	.tools = &tools,
	.pc_sampling = &pc_sampling,
};

static void set_version(struct hsa_table_version *version, uint32_t major, size_t bytes,
			uint32_t step)
{
	*version = (struct hsa_table_version){
		.major_id = major, .minor_id = (uint32_t)bytes, .step_id = step};
}

static void select_old(void)
{
	const uint32_t major = HSA_API_TABLE_MAJOR_VERSION;

	root.old.amd_ext = &amd_ext;
	HSA_AMD_EXT_TABLE(OLD_SLOT)
	set_version(&root.old.version, major, sizeof(root.old), 0);
	set_version(&softgpu_core.version, major, sizeof(softgpu_core), 0);
	set_version(&amd_ext.version, major, sizeof(amd_ext), 0);
	set_version(&softgpu_finalizer_ext.version, major, sizeof(softgpu_finalizer_ext), 0);
	set_version(&softgpu_image_ext.old.version, major, sizeof(softgpu_image_ext.old), 0);
}

/* A version of the newer extension table: how much of it tools may use. */
struct generation {
	size_t bytes;
	uint32_t step;
};

static const struct generation six = {HSA_NEWER_AMD_BYTES_6_4, HSA_NEWER_AMD_STEP_6_4};
static const struct generation seven = {HSA_NEWER_AMD_BYTES_7_2, HSA_NEWER_AMD_STEP_7_2};
static const struct generation newest = {sizeof(newer_amd_ext), HSA_NEWER_AMD_STEP};

static void select_newer(const struct generation *generation)
{
	const uint32_t major = HSA_NEWER_TABLE_MAJOR;

	root.old.amd_ext = (struct hsa_amd_ext_table *)&newer_amd_ext;
	memcpy(softgpu_amd_ext_slots, newer_slots, sizeof(newer_slots));
	set_version(&root.old.version, HSA_NEWER_ROOT_MAJOR, sizeof(root), HSA_NEWER_ROOT_STEP);
	set_version(&softgpu_core.version, major, sizeof(softgpu_core), 0);
	set_version(&newer_amd_ext.version, major, generation->bytes, generation->step);
	set_version(&softgpu_finalizer_ext.version, major, sizeof(softgpu_finalizer_ext), 0);
	set_version(&softgpu_image_ext.old.version, major, sizeof(softgpu_image_ext),
		    HSA_NEWER_IMAGE_STEP);
	set_version(&tools.version, 1, sizeof(tools), 0);
	set_version(&pc_sampling.version, 1, sizeof(pc_sampling), 0);
}

#define HIP_MAJOR_7 7

/* For dl_iterate_phdr: returns the major version of a HIP library other than ROCm 5's, which ends
 * the iteration; 0 for any other library. A name without a version counts as 7. */
static int newer_hip_major(struct dl_phdr_info *info, size_t size, void *data)
{
	static const char stem[] = "libamdhip64.so";
	const char *name = strrchr(info->dlpi_name, '/');
	int major = HIP_MAJOR_7;

	name = name ? name + 1 : info->dlpi_name;
	if (strncmp(name, stem, sizeof(stem) - 1) != 0)
		return 0;
	sscanf(name + sizeof(stem) - 1, ".%d", &major);
	return major == 5 ? 0 : major;
}

void table_select(void)
{
	int64_t configured = config_get()->rocr7_tables;
	int major = configured > 0 ? HIP_MAJOR_7 : 0;

	if (configured < 0)
		major = dl_iterate_phdr(newer_hip_major, NULL);
	if (!major)
		select_old();
	else if (configured == CONFIG_NEWEST_TABLES || major > HIP_MAJOR_7)
		select_newer(&newest);
	else
		select_newer(major == 6 ? &six : &seven);
}

struct hsa_api_table *table_get(void)
{
	return &root.old;
}

hsa_scratch_function *table_get_scratch(enum hsa_scratch_slot slot)
{
	return __atomic_load_n(&tools.slot[slot], __ATOMIC_ACQUIRE);
}

void table_reset(void)
{
	for (int i = 0; i < HSA_SCRATCH_SLOTS; i++)
		__atomic_store_n(&tools.slot[i], NULL, __ATOMIC_RELEASE);
	softgpu_core = default_core;
	amd_ext = default_amd_ext;
	newer_amd_ext = default_newer_amd_ext;
	softgpu_finalizer_ext = default_finalizer_ext;
	softgpu_image_ext = default_image_ext;
}

/* An exported function leaves its arguments in place and jumps to the function in its slot. A table
 * is 16 bytes of version, then one pointer for each function. */
#define FUNCTION(name, jump)                                                                       \
	__asm__(".text\n\t.globl " #name "\n\t.type " #name ", @function\n" #name ":\n\t" jump     \
		"\n\t.size " #name ", .-" #name);
#define EXPORT(table, index, name)    FUNCTION(name, "jmp *" #table "+16+8*" #index "(%rip)")
#define EXPORT_CORE(index, name)      EXPORT(softgpu_core, index, name)
#define EXPORT_FINALIZER(index, name) EXPORT(softgpu_finalizer_ext, index, name)
#define EXPORT_IMAGE(index, name)     EXPORT(softgpu_image_ext, index, name)
/* The calling convention lets a callee overwrite r11 at any time. */
#define EXPORT_AMD_EXT(index, name)                                                                \
	FUNCTION(name, "mov softgpu_amd_ext_slots+8*" #index "(%rip), %r11\n\tjmp *(%r11)")

HSA_CORE_TABLE(EXPORT_CORE)
HSA_AMD_EXT_TABLE_2(EXPORT_AMD_EXT)
HSA_FINALIZER_EXT_TABLE(EXPORT_FINALIZER)
HSA_IMAGE_EXT_TABLE(EXPORT_IMAGE)
HSA_NEWER_IMAGE_EXT_TABLE(EXPORT_IMAGE)

/* HSA 1.0's names of the same functions. They are exported and in no table. */
#define ALIAS(old, new) __asm__(".globl " #old "\n\t.set " #old ", " #new);
#define ALIAS_ORDERS(stem)                                                                         \
	ALIAS(stem##_acquire, stem##_scacquire)                                                    \
	ALIAS(stem##_release, stem##_screlease)                                                    \
	ALIAS(stem##_acq_rel, stem##_scacq_screl)

ALIAS(hsa_queue_load_read_index_acquire, hsa_queue_load_read_index_scacquire)
ALIAS(hsa_queue_load_write_index_acquire, hsa_queue_load_write_index_scacquire)
ALIAS(hsa_queue_store_read_index_release, hsa_queue_store_read_index_screlease)
ALIAS(hsa_queue_store_write_index_release, hsa_queue_store_write_index_screlease)
ALIAS_ORDERS(hsa_queue_add_write_index)
ALIAS_ORDERS(hsa_queue_cas_write_index)
ALIAS(hsa_signal_load_acquire, hsa_signal_load_scacquire)
ALIAS(hsa_signal_store_release, hsa_signal_store_screlease)
ALIAS(hsa_signal_wait_acquire, hsa_signal_wait_scacquire)
ALIAS_ORDERS(hsa_signal_and)
ALIAS_ORDERS(hsa_signal_or)
ALIAS_ORDERS(hsa_signal_xor)
ALIAS_ORDERS(hsa_signal_exchange)
ALIAS_ORDERS(hsa_signal_add)
ALIAS_ORDERS(hsa_signal_subtract)
ALIAS_ORDERS(hsa_signal_cas)
ALIAS(hsa_amd_image_get_info_max_dim, softgpu_extension_absent)
