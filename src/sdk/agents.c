/* Reading the driver's list of agents: see agents.h. */
#include "sdk/agents.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sdk/sdk_export.h"

#define TOPOLOGY "/sys/class/kfd/kfd/topology/nodes"
#define AGENTS	 128
#define TEXT	 128

/* An agent and the texts that it points to. */
struct agent {
	struct sdk_agent agent;
	char name[TEXT], product[TEXT];
};

static struct agent agents[AGENTS];
static uint32_t agent_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A line of a node's properties, and the field that it fills: its offset, and its bytes. */
static const struct {
	const char *key;
	size_t offset, bytes;
} properties[] = {
#define FIELD(key, field)                                                                          \
	{                                                                                          \
		key, offsetof(struct sdk_agent, field), sizeof(((struct sdk_agent *)0)->field)     \
	}
	FIELD("cpu_cores_count", cpu_cores),
	FIELD("simd_count", simds),
	FIELD("cpu_core_id_base", cpu_core_base),
	FIELD("simd_id_base", simd_base),
	FIELD("max_waves_per_simd", max_waves_per_simd),
	FIELD("lds_size_in_kb", lds_kib),
	FIELD("gds_size_in_kb", gds_kib),
	FIELD("num_gws", gws_count),
	FIELD("wave_front_size", wave_size),
	FIELD("num_xcc", xcc_count),
	FIELD("array_count", array_count),
	FIELD("simd_arrays_per_engine", arrays_per_engine),
	FIELD("cu_per_simd_array", cu_per_array),
	FIELD("simd_per_cu", simd_per_cu),
	FIELD("max_slots_scratch_cu", scratch_slots),
	FIELD("gfx_target_version", gfx_version),
	FIELD("vendor_id", vendor),
	FIELD("device_id", device),
	FIELD("location_id", location),
	FIELD("domain", domain),
	FIELD("drm_render_minor", drm_minor),
	FIELD("hive_id", hive),
	FIELD("num_sdma_engines", sdma_engines),
	FIELD("num_sdma_xgmi_engines", sdma_xgmi_engines),
	FIELD("num_sdma_queues_per_engine", sdma_queues),
	FIELD("num_cp_queues", cp_queues),
	FIELD("max_engine_clk_fcompute", max_clock_gpu),
	FIELD("max_engine_clk_ccompute", max_clock_cpu),
	FIELD("capability", capability),
	FIELD("local_mem_size", local_memory),
#undef FIELD
};

static FILE *open_file(unsigned node, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), TOPOLOGY "/%u/%s", node, name);
	return fopen(path, "re");
}

static void set_property(struct sdk_agent *agent, const char *key, uint64_t value)
{
	for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++) {
		/* Little-endian: the low bytes are the value in the smaller type. */
		if (!strcmp(properties[i].key, key))
			memcpy((char *)agent + properties[i].offset, &value, properties[i].bytes);
	}
}

static void read_text(unsigned node, const char *name, char *ret_text)
{
	FILE *file = open_file(node, name);

	if (file && fgets(ret_text, TEXT, file))
		ret_text[strcspn(ret_text, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* "gfx90a" of 90010: the digits of major, minor and stepping, the last two in hexadecimal. */
static void name_gpu(struct agent *agent)
{
	uint32_t version = agent->agent.gfx_version;

	snprintf(agent->name, sizeof(agent->name), "gfx%u%x%x", version / 10000 % 100,
		 version / 100 % 100, version % 100);
}

static void complete(struct agent *agent, unsigned node, uint32_t of_type)
{
	struct sdk_agent *row = &agent->agent;
	bool is_gpu = row->simds != 0;

	row->size = sizeof(*row);
	row->id.handle = node + 1;
	row->type = is_gpu ? SDK_AGENT_GPU : SDK_AGENT_CPU;
	row->cu_count = row->simd_per_cu ? row->simds / row->simd_per_cu : 0;
	row->max_waves_per_cu = row->max_waves_per_simd * row->simd_per_cu;
	row->node = node;
	row->logical_node = (int32_t)agent_count;
	row->logical_of_type = (int32_t)of_type;
	row->visibility = 7; /* HSA, HIP, RCCL */
	read_text(node, "name", agent->product);
	if (is_gpu)
		name_gpu(agent);
	else
		memcpy(agent->name, agent->product, sizeof(agent->name));
	row->name = agent->name;
	row->vendor_name = is_gpu ? "AMD" : "CPU";
	row->product_name = agent->product;
	row->model_name = agent->product;
}

static void read_agents(void)
{
	uint32_t of_type[3] = {0};
	FILE *file;

	for (unsigned node = 0; agent_count < AGENTS && (file = open_file(node, "properties"));
	     node++) {
		struct agent *agent = &agents[agent_count];
		char key[TEXT];
		unsigned long long value;

		while (fscanf(file, "%127s %llu", key, &value) == 2)
			set_property(&agent->agent, key, value);
		fclose(file);
		complete(agent, node, of_type[agent->agent.simds ? 1 : 0]++);
		agent_count++;
	}
}

struct sdk_id agents_id_of(const struct inject_agent *agent)
{
	struct sdk_id of_type = {0};

	pthread_once(&once, read_agents);
	for (uint32_t i = 0; i < agent_count && agent->is_known; i++) {
		const struct sdk_agent *known = &agents[i].agent;

		if ((known->type == SDK_AGENT_GPU) != agent->is_gpu)
			continue;
		if (agent->driver_id && known->node == agent->driver_id)
			return known->id;
		if (agent->is_gpu ? known->logical_of_type == (int32_t)agent->gpu_ordinal
				  : !of_type.handle)
			of_type = known->id;
	}
	return of_type;
}

struct sdk_id agents_id(const struct trace *window, uint32_t agent)
{
	const struct trace_agent *row;

	if (agent == TRACE_NONE)
		return (struct sdk_id){0};
	row = &window->agents[agent];
	return agents_id_of(&(struct inject_agent){
		.driver_id = row->driver_id,
		.gpu_ordinal = row->gpu_ordinal,
		.is_known = true,
		.is_gpu = row->is_gpu,
	});
}

SDK_EXPORT int rocprofiler_query_available_agents(int version,
						  int (*callback)(int version, const void **agents,
								  size_t count, void *data),
						  size_t size, void *data)
{
	const void *rows[AGENTS];

	if (version != SDK_AGENT_VERSION)
		return SDK_ERROR_INCOMPATIBLE_ABI;
	/* A client that was built for a larger struct would read behind ours. */
	if (size > sizeof(struct sdk_agent))
		return SDK_ERROR_INCOMPATIBLE_ABI;
	pthread_once(&once, read_agents);
	for (uint32_t i = 0; i < agent_count; i++)
		rows[i] = &agents[i].agent;
	return callback(version, rows, agent_count, data);
}
