/* The dispatch tables, their defaults, and the exported functions. */
#include "softgpu/table.h"

#include "softgpu/api.h"

#if !defined(__x86_64__)
#error "the exported functions are jumps through a table: write them for this architecture"
#endif

/* What no file implements. Only functions that return a status are left to these. */
hsa_status_t softgpu_unsupported(void);
hsa_status_t softgpu_extension_absent(void);

__attribute__((used)) hsa_status_t softgpu_unsupported(void)
{
	return HSA_STATUS_ERROR;
}

/* What ROCr answers when the library of an extension was not found. */
__attribute__((used)) hsa_status_t softgpu_extension_absent(void)
{
	return HSA_STATUS_ERROR_NOT_INITIALIZED;
}

/* A weak definition for each function: the strong one, where there is one, replaces it. */
#define WEAK(name, target)                                                                         \
	__asm__(".weak softgpu_" #name "\n\t.hidden softgpu_" #name "\n\t.set softgpu_" #name      \
		", " #target);
#define WEAK_UNSUPPORTED(index, name) WEAK(name, softgpu_unsupported)
#define WEAK_ABSENT(index, name)      WEAK(name, softgpu_extension_absent)

HSA_CORE_TABLE(WEAK_UNSUPPORTED)
HSA_AMD_EXT_TABLE(WEAK_UNSUPPORTED)
HSA_FINALIZER_EXT_TABLE(WEAK_ABSENT)
HSA_IMAGE_EXT_TABLE(WEAK_ABSENT)

#define TABLE_VERSION(table)                                                                       \
	{                                                                                          \
		HSA_API_TABLE_MAJOR_VERSION, sizeof(table), 0, 0                                   \
	}
#define TABLE_SLOT(index, name) .name##_fn = softgpu_##name,
#define TABLE_INIT(type, list)                                                                     \
	{                                                                                          \
		.version = TABLE_VERSION(type), list(TABLE_SLOT)                                   \
	}

static const struct hsa_core_table default_core = TABLE_INIT(struct hsa_core_table, HSA_CORE_TABLE);
static const struct hsa_amd_ext_table default_amd_ext =
	TABLE_INIT(struct hsa_amd_ext_table, HSA_AMD_EXT_TABLE);
static const struct hsa_finalizer_ext_table default_finalizer_ext =
	TABLE_INIT(struct hsa_finalizer_ext_table, HSA_FINALIZER_EXT_TABLE);
static const struct hsa_image_ext_table default_image_ext =
	TABLE_INIT(struct hsa_image_ext_table, HSA_IMAGE_EXT_TABLE);

/* Filled before any constructor runs: HIP's static initialisers may call before hsa_init. */
struct hsa_core_table softgpu_core = TABLE_INIT(struct hsa_core_table, HSA_CORE_TABLE);
struct hsa_amd_ext_table softgpu_amd_ext = TABLE_INIT(struct hsa_amd_ext_table, HSA_AMD_EXT_TABLE);
struct hsa_finalizer_ext_table softgpu_finalizer_ext =
	TABLE_INIT(struct hsa_finalizer_ext_table, HSA_FINALIZER_EXT_TABLE);
struct hsa_image_ext_table softgpu_image_ext =
	TABLE_INIT(struct hsa_image_ext_table, HSA_IMAGE_EXT_TABLE);

static struct hsa_api_table root = {
	.version = TABLE_VERSION(struct hsa_api_table),
	.core = &softgpu_core,
	.amd_ext = &softgpu_amd_ext,
	.finalizer_ext = &softgpu_finalizer_ext,
	.image_ext = &softgpu_image_ext,
};

struct hsa_api_table *table_get(void)
{
	return &root;
}

void table_reset(void)
{
	softgpu_core = default_core;
	softgpu_amd_ext = default_amd_ext;
	softgpu_finalizer_ext = default_finalizer_ext;
	softgpu_image_ext = default_image_ext;
}

/* The exported functions keep their arguments where they are and jump: 16 bytes of version, then
 * one pointer a function. */
#define EXPORT(table, index, name)                                                                 \
	__asm__(".text\n\t.globl " #name "\n\t.type " #name ", @function\n" #name                  \
		":\n\tjmp *" #table "+16+8*" #index "(%rip)\n\t.size " #name ", .-" #name);
#define EXPORT_CORE(index, name)      EXPORT(softgpu_core, index, name)
#define EXPORT_AMD_EXT(index, name)   EXPORT(softgpu_amd_ext, index, name)
#define EXPORT_FINALIZER(index, name) EXPORT(softgpu_finalizer_ext, index, name)
#define EXPORT_IMAGE(index, name)     EXPORT(softgpu_image_ext, index, name)

HSA_CORE_TABLE(EXPORT_CORE)
HSA_AMD_EXT_TABLE(EXPORT_AMD_EXT)
HSA_FINALIZER_EXT_TABLE(EXPORT_FINALIZER)
HSA_IMAGE_EXT_TABLE(EXPORT_IMAGE)

/* Names of HSA 1.0 for the same functions, exported and in no table. */
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
