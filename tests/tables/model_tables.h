/*
 * Model libraries that hand out dispatch tables as AMD's libraries do: an exported function calls
 * through its slot of the table, and the table is handed over in the first call. The slot offsets
 * are written down here again, from the vendor's headers, so that the tests do not rely on the
 * generated layouts. Calls that reach a model function are counted.
 */
#ifndef TESTS_MODEL_TABLES_H
#define TESTS_MODEL_TABLES_H

#include <stddef.h>
#include <stdint.h>

#define SHOWN __attribute__((visibility("default")))

/* Byte offsets in HIP's dispatch table. */
enum {
	AT_EVENT_RECORD = 656,
	AT_LAUNCH_KERNEL = 1720,
	AT_MEMCPY_ASYNC = 2152,
	AT_BEGIN_CAPTURE = 2672,
	AT_END_CAPTURE = 2712,
	AT_CAPTURE_INFO = 2728,
	AT_STREAM_SYNCHRONIZE = 2776,
	AT_OCCUPANCY = 4048, /* the last slot of HIP 7.2.4 */
	HIP_TABLE_BYTES = 4056,
	HIP_TABLE_BYTES_MOST = HIP_TABLE_BYTES + 64,
};

struct model_table {
	size_t size;
	void *functions[HIP_TABLE_BYTES_MOST / 8];
};

static inline void **model_slot(struct model_table *table, size_t offset)
{
	return (void **)(uintptr_t)((char *)table + offset);
}

struct grid {
	uint32_t x, y, z;
};

typedef int event_record(void *event, void *stream);
typedef int launch_kernel(const void *function, struct grid blocks, struct grid threads,
			  void **arguments, size_t shared_bytes, void *stream);
typedef int memcpy_async(void *dst, const void *src, size_t bytes, int kind, void *stream);
typedef int begin_capture(void *stream, int mode);
typedef int end_capture(void *stream, void **graph);
typedef int capture_info(void *stream, int *status, unsigned long long *id, void **graph,
			 const void *const **nodes, size_t *node_count);
typedef int stream_synchronize(void *stream);
typedef int occupancy(size_t *bytes, const void *function, int blocks, int block_size);

event_record hipEventRecord;
launch_kernel hipLaunchKernel;
memcpy_async hipMemcpyAsync;
stream_synchronize hipStreamSynchronize;
occupancy hipOccupancyAvailableDynamicSMemPerBlock;

/*
 * The compiler's dispatch table, of nine functions: offsets of the two that register and unregister
 * kernels.
 */
enum { AT_REGISTER_FUNCTION = 32, AT_UNREGISTER_FAT_BINARY = 72, COMPILER_TABLE_BYTES = 80 };

typedef void register_function(void **module, const void *stub, char *device_function,
			       const char *device_name, unsigned int thread_limit, void *tid,
			       void *bid, void *block_dim, void *grid_dim, int *warp_size);
register_function __hipRegisterFunction;
void __hipUnregisterFatBinary(void **module);

/* How often each model function was called, whether or not its slot was wrapped. */
struct model_counts {
	uint32_t event_record, launch_kernel, memcpy_async, stream_synchronize, occupancy;
	uint32_t registered, unregistered;
	uint32_t beyond; /* the last slot of a table that is longer than that of 7.2.4 */
};
extern struct model_counts model_counts;

/* Copies made through the second instance, which has its own hipMemcpyAsync. */
extern uint32_t model_second_memcpys;

/* Return the dispatch table that a second instance hands over, and that of the first, again. */
struct model_table *model_second_table(void);
struct model_table *model_first_table(void);
void model_hand_over_again(void);

/*
 * Hands a library's dispatch tables to the tool, as rocprofiler-register does. Returns -1 when no
 * tool is loaded or MODEL_SILENT is set.
 */
int model_hand_over(const char *name, uint64_t version, uint64_t instance, void **tables,
		    uint64_t count);

/* RCCL's dispatch table: a function's offset is 8 * (place + 1). */
enum {
	AT_ALL_REDUCE = 16,
	AT_SEND = 80,
	AT_GROUP_START = 112,
	AT_COMM_DESTROY = 176,
	AT_ERROR_STRING = 200,
	AT_COMM_USER_RANK = 240,
	RCCL_TABLE_BYTES = 336
};

int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation, void *comm,
		  void *stream);
int ncclCommDestroy(void *comm);
int ncclCommUserRank(const void *comm, int *ret_rank);
int ncclGroupStart(void);
const char *ncclGetErrorString(int code);
/* How often ncclCommUserRank was called. */
uint32_t model_rank_questions(void);

/* ROCTX: the functions' places are in the order mark, push, pop. */
void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
int roctxProfilerPause(uint64_t tid);
int roctxProfilerResume(uint64_t tid);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);
int roctxGetThreadId(uint64_t *ret_tid);
int roctxNameOsThread(const char *name);
int roctxNameHsaAgent(const char *name, const void *agent);
int roctxNameHipDevice(const char *name, int device);
int roctxNameHipStream(const char *name, const void *stream);
extern uint32_t model_marks, model_pushes, model_pops, model_pauses, model_resumes, model_names;

#endif
