/* What AMD's converters read of an agent from its extdata: a rocprofiler_agent_t as JSON. They fail
 * if a key is missing. What the trace does not know is 0, as in AMD's struct. */
#ifndef DAGTAP_FORMAT_ROCPD_AGENT_JSON_H
#define DAGTAP_FORMAT_ROCPD_AGENT_JSON_H

/* All keys, for an agent of which nothing is known. */
/* clang-format off */
#define ROCPD_UNKNOWN_AGENT \
	"{\"size\":0,\"id\":{\"handle\":0},\"type\":0,\"cpu_cores_count\":0,\"simd_count\":0," \
	"\"mem_banks_count\":0,\"caches_count\":0,\"io_links_count\":0," \
	"\"cpu_core_id_base\":0,\"simd_id_base\":0,\"max_waves_per_simd\":0," \
	"\"lds_size_in_kb\":0,\"gds_size_in_kb\":0,\"num_gws\":0,\"wave_front_size\":0," \
	"\"num_xcc\":0,\"cu_count\":0,\"array_count\":0,\"num_shader_banks\":0," \
	"\"simd_arrays_per_engine\":0,\"cu_per_simd_array\":0,\"simd_per_cu\":0," \
	"\"max_slots_scratch_cu\":0,\"gfx_target_version\":0,\"vendor_id\":0,\"device_id\":0," \
	"\"location_id\":0,\"domain\":0,\"drm_render_minor\":0,\"num_sdma_engines\":0," \
	"\"num_sdma_xgmi_engines\":0,\"num_sdma_queues_per_engine\":0,\"num_cp_queues\":0," \
	"\"max_engine_clk_ccompute\":0,\"max_engine_clk_fcompute\":0," \
	"\"sdma_fw_version\":{\"uCodeSDMA\":0,\"uCodeRes\":0},\"fw_version\":{\"uCode\":0," \
	"\"Major\":0,\"Minor\":0,\"Stepping\":0},\"capability\":{\"HotPluggable\":0," \
	"\"HSAMMUPresent\":0,\"SharedWithGraphics\":0,\"QueueSizePowerOfTwo\":0," \
	"\"QueueSize32bit\":0,\"QueueIdleEvent\":0,\"VALimit\":0,\"WatchPointsSupported\":0," \
	"\"WatchPointsTotalBits\":0,\"DoorbellType\":0,\"AQLQueueDoubleMap\":0," \
	"\"DebugTrapSupported\":0,\"WaveLaunchTrapOverrideSupported\":0," \
	"\"WaveLaunchModeSupported\":0,\"PreciseMemoryOperationsSupported\":0," \
	"\"DEPRECATED_SRAM_EDCSupport\":0,\"Mem_EDCSupport\":0,\"RASEventNotify\":0," \
	"\"ASICRevision\":0,\"SRAM_EDCSupport\":0,\"SVMAPISupported\":0," \
	"\"CoherentHostAccess\":0,\"DebugSupportedFirmware\":0," \
	"\"PreciseALUOperationsSupported\":0,\"PerQueueResetSupported\":0}," \
	"\"cu_per_engine\":0,\"max_waves_per_cu\":0,\"family_id\":0,\"workgroup_max_size\":0," \
	"\"grid_max_size\":0,\"local_mem_size\":0,\"hive_id\":0,\"gpu_id\":0," \
	"\"workgroup_max_dim\":{\"x\":0,\"y\":0,\"z\":0},\"grid_max_dim\":{\"x\":0,\"y\":0," \
	"\"z\":0},\"name\":\"\",\"vendor_name\":\"\",\"product_name\":\"\"," \
	"\"model_name\":\"\",\"node_id\":0,\"logical_node_id\":0,\"logical_node_type_id\":0," \
	"\"runtime_visibility\":{\"hsa\":0,\"hip\":0,\"rccl\":0,\"rocdecode\":0}," \
	"\"uuid\":{\"bytes\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]},\"mem_banks\":[]," \
	"\"caches\":[],\"io_links\":[],\"gpu_index\":-1}"
/* clang-format on */

/* The expression for extdata. Parameters 1 to 14 are the other columns, as in ROCPD_INSERTS; 15 to
 * 17 are the compute units, the work-items of a wave and the highest clock in MHz. */
#define ROCPD_AGENT_EXTDATA                                                                        \
	"json_set('" ROCPD_UNKNOWN_AGENT "', '$.id.handle', ?2, '$.type', iif(?5 = 'GPU', 2, 1), " \
	"'$.node_id', ?6, '$.logical_node_id', ?7, '$.logical_node_type_id', ?8, "                 \
	"'$.name', ifnull(?10, ''), '$.model_name', ifnull(?11, ''), "                             \
	"'$.vendor_name', ifnull(?12, ''), '$.product_name', ifnull(?13, ''), "                    \
	"'$.gpu_index', iif(?5 = 'GPU', ?8, -1), "                                                 \
	"'$.cu_count', ?15, '$.wave_front_size', ?16, '$.max_engine_clk_fcompute', ?17)"

#endif
