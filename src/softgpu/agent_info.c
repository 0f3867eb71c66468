/* The HSA functions on agents and caches. */
#include <stdio.h>
#include <string.h>

#include "softgpu/agent.h"
#include "softgpu/answer.h"
#include "softgpu/api.h"
#include "softgpu/config.h"
#include "softgpu/device_clock.h"
#include "softgpu/dma.h"
#include "softgpu/gpu_model.h"
#include "softgpu/isa.h"
#include "softgpu/pool.h"
#include "softgpu/system_state.h"

#define CACHE_HANDLE_BASE 0x6361636800000000ull
#define CACHE_LEVELS	  2u
#define QUEUE_MIN_PACKETS 64u
#define QUEUE_MAX_PACKETS 131072u
#define QUEUES_MAX	  128u
#define GRID_MAX	  0x7fffffffu

static uint32_t hdp_flush_registers[2]; /* HIP keeps the addresses and never writes to them */

/* Stores a name into a field of 64 characters, padded with zeros. */
static hsa_status_t store_name(void *value, const char *name)
{
	char field[64] = {0};

	snprintf(field, sizeof(field), "%s", name);
	memcpy(value, field, sizeof(field));
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t get_uuid(const struct softgpu_agent *agent, void *value)
{
	const struct softgpu_config *config = config_get();
	char uuid[SOFTGPU_UUID_BYTES] = "CPU-XX";

	if (agent->is_gpu)
		snprintf(uuid, sizeof(uuid), "GPU-%016x", 0x50f70000u + agent->card);
	for (uint32_t i = 0; i < config->uuid_count; i++) {
		if (config->uuid[i].card + 1 == agent->card)
			memcpy(uuid, config->uuid[i].text, sizeof(uuid));
	}
	memcpy(value, uuid, sizeof(uuid));
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t get_identity(const struct softgpu_agent *agent, uint32_t attribute, void *value)
{
	switch (attribute) {
	case HSA_AGENT_INFO_NAME:
		return store_name(value, agent->name);
	case HSA_AGENT_INFO_VENDOR_NAME:
		return store_name(value, agent->is_gpu ? "AMD" : "CPU");
	case HSA_AGENT_INFO_FEATURE:
		return answer_u32(value, agent->is_gpu ? HSA_AGENT_FEATURE_KERNEL_DISPATCH : 0);
	case HSA_AGENT_INFO_MACHINE_MODEL:
		return answer_u32(value, HSA_MACHINE_MODEL_LARGE);
	case HSA_AGENT_INFO_PROFILE:
		return answer_u32(value, agent->is_gpu ? HSA_PROFILE_BASE : HSA_PROFILE_FULL);
	case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
	case HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
		return answer_u32(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
	case HSA_AGENT_INFO_FAST_F16_OPERATION:
		return answer_bool(value, agent->is_gpu);
	case HSA_AGENT_INFO_NODE:
		return answer_u32(value, agent->index);
	case HSA_AGENT_INFO_DEVICE:
		return answer_u32(value, agent->is_gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU);
	case HSA_AGENT_INFO_VERSION_MAJOR:
	case HSA_AGENT_INFO_VERSION_MINOR:
		return answer_u16(value, 1);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

static hsa_status_t get_extensions(const struct softgpu_agent *agent, void *value)
{
	uint8_t mask[128] = {0};

	if (agent->is_gpu)
		mask[0] = 1 << HSA_EXTENSION_IMAGES;
	memcpy(value, mask, sizeof(mask));
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t get_cache_sizes(const struct softgpu_agent *agent, void *value)
{
	const struct gpu_model *model = gpu_model();
	static const uint32_t none[4] = {0};

	memcpy(value, agent->is_gpu ? model->cache_bytes : none, sizeof(none));
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t get_geometry(const struct softgpu_agent *agent, uint32_t attribute, void *value)
{
	const struct gpu_model *model = gpu_model();
	const uint16_t workgroup[3] = {1024, 1024, 1024};
	const hsa_dim3_t grid = {GRID_MAX, GRID_MAX, GRID_MAX};

	switch (attribute) {
	case HSA_AGENT_INFO_WAVEFRONT_SIZE:
		return answer_u32(value, model->wavefront);
	case HSA_AGENT_INFO_WORKGROUP_MAX_DIM:
		memcpy(value, workgroup, sizeof(workgroup));
		return HSA_STATUS_SUCCESS;
	case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
		return answer_u32(value, workgroup[0]);
	case HSA_AGENT_INFO_GRID_MAX_DIM:
		memcpy(value, &grid, sizeof(grid));
		return HSA_STATUS_SUCCESS;
	case HSA_AGENT_INFO_GRID_MAX_SIZE:
		return answer_u32(value, GRID_MAX);
	case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
		return answer_u32(value, 32);
	case HSA_AGENT_INFO_QUEUES_MAX:
		return answer_u32(value, agent->is_gpu ? QUEUES_MAX : 0);
	case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
		return answer_u32(value, agent->is_gpu ? QUEUE_MIN_PACKETS : 0);
	case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
		return answer_u32(value, agent->is_gpu ? QUEUE_MAX_PACKETS : 0);
	case HSA_AGENT_INFO_QUEUE_TYPE:
		return answer_u32(value, HSA_QUEUE_TYPE_MULTI);
	case HSA_AGENT_INFO_CACHE_SIZE:
		return get_cache_sizes(agent, value);
	case HSA_AGENT_INFO_ISA:
		memcpy(value, &(hsa_isa_t){agent->is_gpu ? isa_handle().handle : 0},
		       sizeof(hsa_isa_t));
		return HSA_STATUS_SUCCESS;
	case HSA_AGENT_INFO_EXTENSIONS:
		return get_extensions(agent, value);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

static hsa_status_t get_hdp_flush(void *value)
{
	const hsa_amd_hdp_flush_t flush = {&hdp_flush_registers[0], &hdp_flush_registers[1]};

	memcpy(value, &flush, sizeof(flush));
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t get_clock_counters(void *value)
{
	const uint64_t now_ns = clock_host_ns();
	const hsa_amd_clock_counters_t counters = {
		.gpu_clock_counter = clock_host_to_ticks(now_ns),
		.cpu_clock_counter = now_ns,
		.system_clock_counter = now_ns,
		.system_clock_frequency = CLOCK_HOST_HZ,
	};

	memcpy(value, &counters, sizeof(counters));
	return HSA_STATUS_SUCCESS;
}

/* Returns the address on the bus as the driver does: bus, device and function, with the partition
 * in bits 28 to 31. */
static uint32_t place_on_bus(const struct softgpu_agent *agent)
{
	return agent->partition << 28 | agent->card << 8;
}

/* Gives the AMD attributes that are one 32-bit number. Returns false for other attributes. */
static bool find_amd_number(const struct softgpu_agent *agent, uint32_t attribute,
			    uint32_t *ret_number)
{
	const struct gpu_model *model = gpu_model();
	const struct {
		uint32_t attribute;
		uint32_t gpu;
		uint32_t cpu;
	} rows[] = {
		{HSA_AMD_AGENT_INFO_CHIP_ID, model->chip_id, 0},
		{HSA_AMD_AGENT_INFO_CACHELINE_SIZE, model->cacheline_bytes, 64},
		{HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, model->compute_units, 1},
		{HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, model->clock_mhz, 0},
		{HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, agent->index, agent->index},
		{HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS, 4, 0},
		{HSA_AMD_AGENT_INFO_BDFID, place_on_bus(agent), 0},
		{HSA_AMD_AGENT_INFO_MEMORY_WIDTH, model->memory_width_bits, 0},
		{HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, model->memory_clock_mhz, 0},
		{HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, model->waves_per_cu, 0},
		{HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, model->simds_per_cu, 0},
		{HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, model->shader_engines, 0},
		{HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, 1, 0},
		{HSA_AMD_AGENT_INFO_DOMAIN, 0, 0},
		{HSA_AMD_AGENT_INFO_ASIC_REVISION, 1, 0},
		{HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, model->compute_units, 0},
		{HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID, 0, 0},
		{HSA_AMD_AGENT_INFO_UCODE_VERSION, 0, 0},
		{HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION, 0, 0},
		{HSA_AMD_AGENT_INFO_NUM_SDMA_ENG, DMA_HOST_ENGINES, 0},
		{HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG, DMA_ENGINES - DMA_HOST_ENGINES, 0},
		{HSA_AMD_AGENT_INFO_IOMMU_SUPPORT, 0, 0},
		{HSA_AMD_AGENT_INFO_NUM_XCC, model->xccs ? model->xccs : 1, 0},
		{HSA_AMD_AGENT_INFO_DRIVER_UID, agent->index, agent->index},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].attribute == attribute) {
			*ret_number = agent->is_gpu ? rows[i].gpu : rows[i].cpu;
			return true;
		}
	}
	return false;
}

static hsa_status_t get_amd(const struct softgpu_agent *agent, uint32_t attribute, void *value)
{
	uint32_t number;

	if (find_amd_number(agent, attribute, &number))
		return answer_u32(value, number);
	switch (attribute) {
	case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
		return store_name(value, agent->is_gpu ? gpu_model()->product : agent->name);
	case HSA_AMD_AGENT_INFO_HDP_FLUSH:
		return get_hdp_flush(value);
	case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
		return answer_bool(value, agent->is_gpu);
	case HSA_AMD_AGENT_INFO_UUID:
		return get_uuid(agent, value);
	case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
		return answer_bool(value, false);
	case HSA_AMD_AGENT_INFO_MEMORY_AVAIL:
		return answer_u64(value, pool_available_bytes(agent_at(agent->index)));
	case HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY:
		return answer_u64(value, agent->is_gpu ? CLOCK_DEVICE_HZ : CLOCK_HOST_HZ);
	case HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES:
	case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX:
	case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT:
		return answer_u64(value, 0);
	case HSA_AMD_AGENT_INFO_NEAREST_CPU:
		return answer_u64(value, agent_handle(agent_at(0)).handle);
	case HSA_AMD_AGENT_INFO_CLOCK_COUNTERS:
		return get_clock_counters(value);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

/* Limits of images (hsa_ext_image.h, 0x3000 to 0x300c). The header says size_t, but ROCr writes and
 * HIP reads 32-bit words: wider numbers would overrun HIP's arrays of three of them. */
static hsa_status_t get_image(const struct softgpu_agent *agent, uint32_t attribute, void *value)
{
	const uint32_t dims[3] = {16384, 16384, 8192};
	uint32_t components;

	if (!agent->is_gpu)
		return answer_u32(value, 0);
	switch (attribute) {
	case HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS:
		return answer_u32(value, 1u << 27);
	case HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS:
		return answer_u32(value, 8192);
	case HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES:
	case HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES:
		return answer_u32(value, 128);
	case HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS:
		return answer_u32(value, 16);
	case HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT:
		return answer_u32(value, 256);
	case HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS:
		components = 3;
		break;
	default:
		components = attribute < HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS ? 1 : 2;
		break;
	}
	memcpy(value, dims, components * sizeof(dims[0]));
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_agent_get_info(hsa_agent_t handle, hsa_agent_info_t attribute, void *value)
{
	const struct softgpu_agent *agent = agent_find(handle);
	uint32_t number = (uint32_t)attribute;
	hsa_status_t status;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (number >= HSA_AMD_AGENT_INFO_CHIP_ID)
		return get_amd(agent, number, value);
	if (number >= HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS &&
	    number <= HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT)
		return get_image(agent, number, value);
	status = get_identity(agent, number, value);
	return status == HSA_STATUS_SUCCESS ? status : get_geometry(agent, number, value);
}

hsa_status_t softgpu_hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void *data),
					void *data)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < agent_count(); i++) {
		hsa_status_t status = callback(agent_handle(agent_at(i)), data);

		if (status != HSA_STATUS_SUCCESS)
			return status;
	}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_agent_iterate_isas(hsa_agent_t handle,
					    hsa_status_t (*callback)(hsa_isa_t isa, void *data),
					    void *data)
{
	const struct softgpu_agent *agent = agent_find(handle);

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	/* A CPU has no ISA; ROCr returns this status for it, too. */
	if (!agent || !agent->is_gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return callback(isa_handle(), data);
}

hsa_status_t softgpu_hsa_agent_get_exception_policies(hsa_agent_t handle, hsa_profile_t profile,
						      uint16_t *mask)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent_find(handle))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!mask || (profile != HSA_PROFILE_BASE && profile != HSA_PROFILE_FULL))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*mask = HSA_EXCEPTION_POLICY_DETECT;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_agent_iterate_caches(
	hsa_agent_t handle, hsa_status_t (*callback)(hsa_cache_t cache, void *data), void *data)
{
	const struct softgpu_agent *agent = agent_find(handle);

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (uint32_t level = 0; agent->is_gpu && level < CACHE_LEVELS; level++) {
		hsa_status_t status = callback((hsa_cache_t){CACHE_HANDLE_BASE + level}, data);

		if (status != HSA_STATUS_SUCCESS)
			return status;
	}
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_cache_get_info(hsa_cache_t cache, hsa_cache_info_t attribute, void *value)
{
	const struct gpu_model *model = gpu_model();
	uint64_t level = cache.handle - CACHE_HANDLE_BASE;
	char name[32];

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (level >= CACHE_LEVELS || agent_count() == 0)
		return HSA_STATUS_ERROR_INVALID_CACHE;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	snprintf(name, sizeof(name), "%s L%u", model->name, (uint32_t)level + 1);
	switch (attribute) {
	case HSA_CACHE_INFO_NAME_LENGTH:
		return answer_u32(value, (uint32_t)strlen(name));
	case HSA_CACHE_INFO_NAME:
		memcpy(value, name, strlen(name) + 1);
		return HSA_STATUS_SUCCESS;
	case HSA_CACHE_INFO_LEVEL:
		memcpy(value, &(uint8_t){(uint8_t)(level + 1)}, 1);
		return HSA_STATUS_SUCCESS;
	case HSA_CACHE_INFO_SIZE:
		return answer_u32(value, model->cache_bytes[level]);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

hsa_status_t softgpu_hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t *type)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent_find(agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!type)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*type = HSA_AMD_COHERENCY_TYPE_COHERENT;
	return HSA_STATUS_SUCCESS;
}

/* Returns success and changes nothing, as hsa_ext_amd.h says for all platforms but KV. */
hsa_status_t softgpu_hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent_find(agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (type != HSA_AMD_COHERENCY_TYPE_COHERENT && type != HSA_AMD_COHERENCY_TYPE_NONCOHERENT)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return HSA_STATUS_SUCCESS;
}
