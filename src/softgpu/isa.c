/* The table of ISAs, and the HSA functions on the ISA and on wavefronts. */
#include "softgpu/isa.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "softgpu/answer.h"
#include "softgpu/api.h"
#include "softgpu/config.h"
#include "softgpu/system_state.h"

#define ISA_HANDLE	 0x6973610000000001ull
#define WAVEFRONT_HANDLE 0x7761766500000001ull
#define GRID_MAX	 0x7fffffffu

static const struct {
	const char *name;
	const char *full_name;
	uint32_t wavefront;
} isas[] = {
	{"gfx906", "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-", 64},
	{"gfx90a", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", 64},
	{"gfx942", "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", 64},
	{"gfx1030", "amdgcn-amd-amdhsa--gfx1030", 32},
};

static size_t isa_index(void)
{
	for (size_t i = 0; i < sizeof(isas) / sizeof(isas[0]); i++) {
		if (strcmp(isas[i].name, config_get()->isa) == 0)
			return i;
	}
	return 0;
}

hsa_isa_t isa_handle(void)
{
	return (hsa_isa_t){ISA_HANDLE};
}

const char *isa_full_name(void)
{
	return isas[isa_index()].full_name;
}

static hsa_status_t get_limit(hsa_isa_info_t attribute, void *value)
{
	const uint16_t workgroup[3] = {1024, 1024, 1024};
	const hsa_dim3_t grid = {GRID_MAX, GRID_MAX, GRID_MAX};
	const uint64_t grid_max = GRID_MAX;

	switch (attribute) {
	case HSA_ISA_INFO_WORKGROUP_MAX_DIM:
		return answer(value, workgroup, sizeof(workgroup));
	case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
		return answer_u32(value, workgroup[0]);
	case HSA_ISA_INFO_GRID_MAX_DIM:
		return answer(value, &grid, sizeof(grid));
	case HSA_ISA_INFO_GRID_MAX_SIZE:
		return answer(value, &grid_max, sizeof(grid_max));
	case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
		return answer_u32(value, 32);
	case HSA_ISA_INFO_CALL_CONVENTION_COUNT:
		return answer_u32(value, 1);
	case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE:
		return answer_u32(value, isas[isa_index()].wavefront);
	case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT:
		return answer_u32(value, 40);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

hsa_status_t softgpu_hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void *value)
{
	const char *name = isa_full_name();
	/* Machine model small, large; profile base, full; rounding default, zero, near. */
	const bool machine_models[2] = {false, true};
	const bool profiles[2] = {true, false};
	const bool rounding[3] = {false, false, true};

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (isa.handle != ISA_HANDLE)
		return HSA_STATUS_ERROR_INVALID_ISA;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	switch (attribute) {
	case HSA_ISA_INFO_NAME_LENGTH:
		/* With the NUL, as in ROCr: HIP allocates exactly this many bytes. */
		return answer_u32(value, (uint32_t)strlen(name) + 1);
	case HSA_ISA_INFO_NAME:
		return answer(value, name, strlen(name) + 1);
	case HSA_ISA_INFO_MACHINE_MODELS:
		return answer(value, machine_models, sizeof(machine_models));
	case HSA_ISA_INFO_PROFILES:
		return answer(value, profiles, sizeof(profiles));
	case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
	case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
		return answer(value, rounding, sizeof(rounding));
	case HSA_ISA_INFO_FAST_F16_OPERATION:
		return answer(value, &(bool){true}, sizeof(bool));
	default:
		return get_limit(attribute, value);
	}
}

hsa_status_t softgpu_hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index,
				      void *value)
{
	if (index != 0)
		return HSA_STATUS_ERROR_INVALID_INDEX;
	return softgpu_hsa_isa_get_info_alt(isa, attribute, value);
}

hsa_status_t softgpu_hsa_isa_from_name(const char *name, hsa_isa_t *isa)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!name || !isa)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (strcmp(name, isa_full_name()) != 0)
		return HSA_STATUS_ERROR_INVALID_ISA_NAME;
	*isa = isa_handle();
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_isa_compatible(hsa_isa_t code_object_isa, hsa_isa_t agent_isa,
					bool *result)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (code_object_isa.handle != ISA_HANDLE || agent_isa.handle != ISA_HANDLE)
		return HSA_STATUS_ERROR_INVALID_ISA;
	if (!result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = true;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_isa_get_exception_policies(hsa_isa_t isa, hsa_profile_t profile,
						    uint16_t *mask)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (isa.handle != ISA_HANDLE)
		return HSA_STATUS_ERROR_INVALID_ISA;
	if (!mask || (profile != HSA_PROFILE_BASE && profile != HSA_PROFILE_FULL))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*mask = HSA_EXCEPTION_POLICY_DETECT;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_isa_get_round_method(hsa_isa_t isa, hsa_fp_type_t fp_type,
					      hsa_flush_mode_t flush_mode,
					      hsa_round_method_t *round_method)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (isa.handle != ISA_HANDLE)
		return HSA_STATUS_ERROR_INVALID_ISA;
	if (!round_method ||
	    (fp_type != HSA_FP_TYPE_16 && fp_type != HSA_FP_TYPE_32 && fp_type != HSA_FP_TYPE_64) ||
	    (flush_mode != HSA_FLUSH_MODE_FTZ && flush_mode != HSA_FLUSH_MODE_NON_FTZ))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*round_method = HSA_ROUND_METHOD_SINGLE;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_isa_iterate_wavefronts(
	hsa_isa_t isa, hsa_status_t (*callback)(hsa_wavefront_t wavefront, void *data), void *data)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (isa.handle != ISA_HANDLE)
		return HSA_STATUS_ERROR_INVALID_ISA;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return callback((hsa_wavefront_t){WAVEFRONT_HANDLE}, data);
}

hsa_status_t softgpu_hsa_wavefront_get_info(hsa_wavefront_t wavefront,
					    hsa_wavefront_info_t attribute, void *value)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (wavefront.handle != WAVEFRONT_HANDLE)
		return HSA_STATUS_ERROR_INVALID_WAVEFRONT;
	if (!value || attribute != HSA_WAVEFRONT_INFO_SIZE)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return answer_u32(value, isas[isa_index()].wavefront);
}
