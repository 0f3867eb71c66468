/* The numbers that a GPU of each ISA reports (gpu_model.h). */
#include "softgpu/gpu_model.h"

#include <stddef.h>
#include <string.h>

#include "softgpu/config.h"

static const struct gpu_model models[] = {
	{
		.name = "gfx906",
		.product = "Software GPU (gfx906)",
		.chip_id = 0x66a1,
		.wavefront = 64,
		.compute_units = 60,
		.simds_per_cu = 4,
		.waves_per_cu = 40,
		.shader_engines = 4,
		.clock_mhz = 1725,
		.memory_clock_mhz = 1000,
		.memory_width_bits = 4096,
		.cacheline_bytes = 64,
		.cache_bytes = {16 << 10, 4 << 20},
	},
	{
		.name = "gfx90a",
		.product = "Software GPU (gfx90a)",
		.chip_id = 0x740f,
		.wavefront = 64,
		.compute_units = 104,
		.simds_per_cu = 4,
		.waves_per_cu = 32,
		.shader_engines = 8,
		.clock_mhz = 1700,
		.memory_clock_mhz = 1600,
		.memory_width_bits = 4096,
		.cacheline_bytes = 64,
		.cache_bytes = {16 << 10, 8 << 20},
	},
	{
		.name = "gfx942",
		.product = "Software GPU (gfx942)",
		.chip_id = 0x74a1,
		.wavefront = 64,
		.compute_units = 304,
		.xccs = 8,
		.simds_per_cu = 4,
		.waves_per_cu = 32,
		.shader_engines = 32,
		.clock_mhz = 2100,
		.memory_clock_mhz = 1300,
		.memory_width_bits = 8192,
		.cacheline_bytes = 128,
		.cache_bytes = {32 << 10, 4 << 20},
	},
	{
		.name = "gfx1030",
		.product = "Software GPU (gfx1030)",
		.chip_id = 0x73bf,
		.wavefront = 32,
		.compute_units = 60,
		.simds_per_cu = 2,
		.waves_per_cu = 32,
		.shader_engines = 4,
		.clock_mhz = 2105,
		.memory_clock_mhz = 1000,
		.memory_width_bits = 256,
		.cacheline_bytes = 128,
		.cache_bytes = {16 << 10, 4 << 20},
	},
};

const struct gpu_model *gpu_model(void)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		if (strcmp(models[i].name, config_get()->isa) == 0)
			return &models[i];
	}
	return &models[0];
}
