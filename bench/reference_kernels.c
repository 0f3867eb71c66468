/* The names, dimensions and durations of the reference run's kernels: reference_kernels.h. */
#include "reference_kernels.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* Has no common factor with REFERENCE_KERNELS, so that neighbours are of different families. */
#define SPREAD 37

static void name_tensile(uint32_t n, char *ret_name, size_t room)
{
	static const char *const layouts[] = {"Ailk_Bljk", "Alik_Bljk", "Ailk_Bjlk"};
	static const struct {
		int m, n, k;
	} tiles[] = {{256, 256, 64}, {256, 128, 64}, {128, 256, 64}, {128, 128, 64}, {256, 192, 32},
		     {96, 256, 32},  {64, 128, 128}, {64, 64, 256},  {32, 128, 64},  {256, 16, 64},
		     {128, 96, 64},  {192, 256, 32}, {16, 16, 512},  {160, 128, 64}};
	const char *layout = layouts[n % COUNT_OF(layouts)];
	uint32_t tile = n / COUNT_OF(layouts) % COUNT_OF(tiles);

	snprintf(ret_name, room,
		 "Cijk_%s_BBS_BH_Bias_HAS_SAV_UserArgs_MT%dx%dx%d_MI16x16x1_SN_LDSB1_AFC1_AFEM1_"
		 "ASEM1_CLR1_CADS0_DTLA0_DTLB0_DTVA0_DTVB0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_GSU0_"
		 "GSUAMB_ISA942_IU1_K1_LBSPPA2048_LBSPPB2048_LBSPPM0_LPA16_LPB16_LPM0_LRVW8_LWPMn1_"
		 "MIAV0_MIWT8_8_MO40_NTn1_NTA0_NTB0_NTC0_NTD4_NEPBS16_NLCA1_NLCB1_ONLL1_PGR2_PLR1_"
		 "PKA1_SIA3_SS1_SPO0_SRVW0_SSO0_SVW8_SK3_TLDS1_ULSGRO0_USL1_UIOFGRO0_USFGRO0_VSn1_"
		 "VWA8_VWB8_WSGRA0_WSGRB0_WS64_WG64_4_1_WGM%u_WGMXCC8",
		 layout, tiles[tile].m, tiles[tile].n, tiles[tile].k, 4 + n % 5);
}

static void name_attention(uint32_t n, char *ret_name, size_t room)
{
	static const char *const kernels[] = {"FmhaFwdKernel", "FmhaBwdDQDKDVKernel",
					      "FmhaBwdOGradDotOKernel"};
	static const char *const pipelines[] = {"BlockFmhaPipelineQRKSVSAsync",
						"BlockFmhaBwdDQDKDVPipelineKRKTRVR",
						"BlockFmhaBwdOGradDotO"};
	uint32_t kind = n % 3;

	snprintf(ret_name, room,
		 "void ck_tile::kentry<256, %u, ck_tile::%s<ck_tile::%s<ck_tile::"
		 "BlockFmhaPipelineProblem<unsigned short, unsigned short, unsigned short, float, "
		 "float, ck_tile::sequence<128, %u, 32, 128, 32, 128>, %s>>>>(ck_tile::%s::Kargs)",
		 1 + n % 2, kernels[kind], pipelines[kind], 64u << (n / 6),
		 n / 3 % 2 ? "true" : "false", kernels[kind]);
}

static void name_fusion(uint32_t n, char *ret_name, size_t room)
{
	static const char *const stems[] = {
		"loop_add_fusion",
		"input_reduce_fusion",
		"loop_convert_fusion",
		"loop_multiply_fusion",
		"input_transpose_fusion",
		"wrapped_slice",
		"triton_softmax",
		"gemm_fusion_dot",
		"loop_dynamic_update_slice_fusion",
		"loop_broadcast_fusion",
		"input_concatenate_fusion",
		"loop_select_fusion",
		"input_scatter_fusion",
		"wrapped_transpose",
	};
	uint32_t number = n / COUNT_OF(stems);

	if (number == 0)
		snprintf(ret_name, room, "%s", stems[n % COUNT_OF(stems)]);
	else
		snprintf(ret_name, room, "%s_%u", stems[n % COUNT_OF(stems)], number * 3);
}

static void name_collective(uint32_t n, char *ret_name, size_t room)
{
	snprintf(ret_name, room, "ncclDevKernel_Generic_%u(ncclDevKernelArgsStorage<4096ul>)",
		 1u << n);
}

static void name_primitive(uint32_t n, char *ret_name, size_t room)
{
	static const char *const algorithms[] = {"wrapped_reduce_config", "wrapped_scan_config",
						 "wrapped_radix_sort_block_sort_config",
						 "wrapped_transform_config"};
	static const char *const types[] = {"float", "hip_bfloat16", "int", "unsigned long"};

	snprintf(ret_name, room,
		 "void rocprim::detail::trampoline_kernel<rocprim::detail::target_arch::gfx942, "
		 "rocprim::detail::%s<rocprim::default_config, %s>>(%s const*, %s*, unsigned int)",
		 algorithms[n % COUNT_OF(algorithms)], types[n / COUNT_OF(algorithms)],
		 types[n / COUNT_OF(algorithms)], types[n / COUNT_OF(algorithms)]);
}

/* COUNT kernels of each family; kernels are numbered in this order before they are spread. */
static const struct family {
	uint32_t count;
	void (*name)(uint32_t n, char *ret_name, size_t room);
	uint32_t blocks;
	uint16_t block;
	uint32_t group_bytes;
	uint32_t duration_ns;
	bool is_library;
} families[] = {
	{40, name_tensile, 304, 256, 65536, 150000, true},
	{12, name_attention, 1024, 256, 32768, 120000, true},
	{76, name_fusion, 512, 128, 4096, 11000, false},
	{4, name_collective, 56, 256, 28672, 200000, true},
	{14, name_primitive, 128, 256, 8192, 6000, true},
};

static void fill(struct reference_kernel *kernel, const struct family *family, uint32_t n)
{
	*kernel = (struct reference_kernel){
		.blocks = {family->blocks + 16 * n, 1 + n % 4 / 3, 1},
		.block = {family->block, 1, 1},
		.group_bytes = family->group_bytes,
		.duration_ns = family->duration_ns + family->duration_ns / 16 * (n % 24),
		.is_library = family->is_library,
	};
	family->name(n, kernel->name, sizeof(kernel->name));
}

static void fill_blit(struct reference_kernel *kernel, const char *name)
{
	*kernel = (struct reference_kernel){
		.blocks = {1024, 1, 1},
		.block = {512, 1, 1},
		.duration_ns = 9000,
	};
	snprintf(kernel->name, sizeof(kernel->name), "%s", name);
}

void reference_kernels_make(struct reference_kernel *kernels)
{
	uint32_t number = 0;

	for (size_t f = 0; f < COUNT_OF(families); f++) {
		for (uint32_t n = 0; n < families[f].count; n++, number++)
			fill(&kernels[number * SPREAD % REFERENCE_KERNELS], &families[f], n);
	}
	fill_blit(&kernels[REFERENCE_FILL], "__amd_rocclr_fillBufferAligned");
	fill_blit(&kernels[REFERENCE_COPY], "__amd_rocclr_copyBuffer");
}

void reference_instruction_name(uint32_t n, char *ret_text, uint32_t room)
{
	static const char *const stems[] = {"loop_add_fusion",	   "gemm_fusion_dot",
					    "input_reduce_fusion", "custom-call",
					    "wrapped_slice",	   "loop_convert_fusion",
					    "all-gather-start",	   "input_transpose_fusion"};

	snprintf(ret_text, room, "%s.%u", stems[n % COUNT_OF(stems)],
		 n / (uint32_t)COUNT_OF(stems));
}
