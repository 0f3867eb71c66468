/* Stands for a newer runtime. Loaded before the injected library, it gives it an extension table
 * of major version 2, in which functions have other offsets and copies on a chosen engine and in
 * batches exist. The program reaches that table through newer_table(). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vendor/hsa_tables.h"

#define SHOWN	    __attribute__((visibility("default")))
#define TABLE_BYTES 688 /* size of the table up to step 14 */

/* One operation of a batch; only the fields that this file uses. */
struct operation {
	uint16_t version, type, entries, traffic_class;
	hsa_signal_t done;
	void *src;
	hsa_agent_t src_agent;
	void *dst_agent;
	void *dst;
	uint64_t bytes;
	uint64_t rest[9];
};

static union {
	struct hsa_table_version version;
	uint64_t words[TABLE_BYTES / 8];
} newer;
static struct hsa_amd_ext_table *real;

static hsa_status_t copy_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
				   hsa_agent_t src_agent, size_t size, uint32_t dependencies,
				   const hsa_signal_t *dependency, hsa_signal_t done,
				   uint32_t engine, bool force)
{
	if (engine != 2 || !force)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return real->hsa_amd_memory_async_copy_fn(dst, dst_agent, src, src_agent, size,
						  dependencies, dependency, done);
}

/* In a broadcast only the copy to the last destination completes the signal. */
static hsa_status_t copy_operation(const struct operation *o, uint32_t dependencies,
				   const hsa_signal_t *dependency)
{
	void **list = o->dst;
	hsa_agent_t *agents = o->dst_agent, agent = {(uint64_t)(uintptr_t)o->dst_agent};

	if (!o->type)
		return copy_on_engine(o->dst, agent, o->src, o->src_agent, o->bytes, dependencies,
				      dependency, o->done, 2, true);
	for (uint16_t i = 0; i + 1 < o->entries; i++)
		memcpy(list[i], o->src, o->bytes);
	return copy_on_engine(list[o->entries - 1], agents[o->entries - 1], o->src, o->src_agent,
			      o->bytes, dependencies, dependency, o->done, 2, true);
}

static hsa_status_t copy_batch(const struct operation *operations, uint32_t count,
			       uint32_t dependencies, const hsa_signal_t *dependency)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	for (uint32_t i = 0; i < count && status == HSA_STATUS_SUCCESS; i++)
		status = copy_operation(&operations[i], dependencies, dependency);
	return status;
}

static void put(size_t offset, void (*function)(void))
{
	newer.words[offset / 8] = (uint64_t)(uintptr_t)function;
}
#define PUT(offset, name) put(offset, (void (*)(void))real->name##_fn)

SHOWN uint64_t *newer_table(void);
uint64_t *newer_table(void)
{
	return newer.words;
}

SHOWN bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
		  const char *const *failed_tool_names);
bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
	    const char *const *failed_tool_names)
{
	(void)runtime_version;
	(void)failed_tool_count;
	(void)failed_tool_names;
	real = table->amd_ext;
	newer.version = (struct hsa_table_version){2, TABLE_BYTES, 14, 0};
	PUT(32, hsa_amd_profiling_set_profiler_enabled);
	PUT(40, hsa_amd_profiling_async_copy_enable);
	PUT(56, hsa_amd_profiling_get_async_copy_time);
	PUT(64, hsa_amd_profiling_convert_tick_to_system_domain);
	PUT(104, hsa_amd_memory_pool_get_info);
	PUT(112, hsa_amd_agent_iterate_memory_pools);
	PUT(136, hsa_amd_memory_async_copy);
	put(144, (void (*)(void))copy_on_engine);
	PUT(280, hsa_amd_signal_create);
	PUT(312, hsa_amd_queue_intercept_create);
	PUT(320, hsa_amd_queue_intercept_register);
	PUT(336, hsa_amd_memory_async_copy_rect);
	put(640, (void (*)(void))copy_batch);
	table->amd_ext = (struct hsa_amd_ext_table *)(void *)&newer;
	return true;
}
