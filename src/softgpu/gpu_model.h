/* The numbers that a GPU of each ISA reports. */
#ifndef SOFTGPU_GPU_MODEL_H
#define SOFTGPU_GPU_MODEL_H

#include <stdint.h>

/* The properties that a GPU reports, for each ISA. The numbers are those of a Radeon Instinct MI50,
 * an Instinct MI210, an Instinct MI300X and a Radeon RX 6800, because programs choose the size of
 * their work by them. */
struct gpu_model {
	const char *name;
	const char *product;
	uint32_t chip_id;
	uint32_t wavefront;
	uint32_t compute_units;
	uint32_t xccs; /* 0 stands for 1 */
	uint32_t simds_per_cu;
	uint32_t waves_per_cu;
	uint32_t shader_engines;
	uint32_t clock_mhz;
	uint32_t memory_clock_mhz;
	uint32_t memory_width_bits;
	uint32_t cacheline_bytes;
	uint32_t cache_bytes[4];
};

/* Returns the properties of the configured GPU. config.c accepts the names of ISAs in gpu_model.c
 * only. */
const struct gpu_model *gpu_model(void);

#endif
