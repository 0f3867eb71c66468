/* What dagpatch is tested and measured on: a driver's memory, streams and kernels behind one table,
 * so that the same tests run on the model, on HIP and on CUDA. Everything aborts the test on a
 * failure of its own; handles are the driver's. */
#ifndef TESTS_PATCH_BED_H
#define TESTS_PATCH_BED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

/* Kernels for grids of one dimension; thread i of grid * block does element i, if there is one. */
enum bed_kernel {
	BED_ADD, /* u32 *c, const u32 *a, const u32 *b, u32 n: c[i] = a[i] + b[i] */
	BED_MUL, /* the same with * */
	BED_FOLD, /* u64 *out, const u64 *in, u64 scalar, u32 n: out[i] = out[i] * 31 + in[i] + scalar */
	BED_MARK,   /* u32 *at, u32 value: at[0] += value, by thread 0 */
	BED_STRUCT, /* struct bed_struct by value: dst[i] = src[i] + (u32)scalar */
	BED_PACKED, /* struct bed_packed by value: the same */
	BED_HOLD,   /* const u32 *flag: thread 0 waits until it is not 0; in pinned host memory */
	BED_COUNT_DOWN, /* i32 *counter, u32 *sum, u32 value: sum[0] += value, counter[0]--, by thread 0 */
	BED_KERNELS
};

struct bed_struct {
	uint32_t *dst;
	uint64_t scalar;
	uint32_t count;
	uint32_t unused;
	const uint32_t *src;
};

/* Addresses where no struct of C's has them. */
struct bed_packed {
	uint32_t count;
	uint32_t *dst;	     /* at 4 */
	uint8_t scalar;	     /* at 12 */
	const uint32_t *src; /* at 13 */
	uint8_t unused[3];
} __attribute__((packed));

struct bed_copy {
	void *dst;
	const void *src;
	size_t dst_pitch, dst_rows, src_pitch, src_rows; /* 0: as wide, as high as the copy */
	size_t width, height, depth;
};

#define NO_DEVICE UINT32_MAX

struct bed {
	const char *driver; /* for struct dagpatch_options */
	/* 0, or 77 when there is no such device here. */
	int (*open)(void);
	void (*close)(void);

	/* The thread's current device, on which what follows makes streams and memory, moves bytes
	 * and launches; NO_DEVICE: it has none. One thread opens the bed and has device 0. */
	uint32_t (*device_count)(void); /* NULL: 1 */
	void (*device_set)(uint32_t device);
	uint32_t (*device_current)(void);
	void *per_thread_stream; /* the handle that stands for it; NULL: there is none */

	void *(*alloc)(size_t bytes); /* 256-aligned at least */
	void (*free)(void *address);
	void *(*alloc_host)(size_t bytes); /* pinned, reached by the device at this address */
	void (*free_host)(void *address);
	void (*write)(void *dst, const void *src, size_t bytes); /* done when it returns */
	void (*read)(void *dst, const void *src, size_t bytes);

	void *(*stream_create)(void);
	void (*stream_destroy)(void *stream);
	void (*stream_synchronize)(void *stream);

	void *(*function)(enum bed_kernel kernel); /* for struct dagpatch_kernel */
	/* 0 or the driver's code; works in a stream that is captured. */
	int (*launch)(void *stream, enum bed_kernel kernel, uint32_t grid, uint32_t block,
		      void *const *parameters);
	int (*launch_block)(void *stream, enum bed_kernel kernel, uint32_t grid, uint32_t block,
			    const void *arguments, size_t bytes); /* by `extra`; NULL: cannot */
	int (*copy)(void *stream, const struct bed_copy *copy);
	int (*memset)(void *stream, void *dst, uint32_t value, uint32_t element_bytes,
		      size_t width);
	/* NULL: cannot. */
	int (*host)(void *stream, void (*function)(void *user), void *user);

	void *(*event_create)(void);
	void (*event_destroy)(void *event);
	int (*event_record)(void *stream, void *event); /* inside a capture: edges */
	int (*event_wait)(void *stream, void *event);
	bool (*event_is_done)(void *event);

	void (*capture_begin)(void *stream);
	/* In the strictest mode; NULL: there is but one. */
	void (*capture_begin_global)(void *stream);
	void *(*capture_end)(void *stream);
	void (*graph_destroy)(void *graph);
	int (*graph_launch)(void *stream,
			    void *graph); /* a child, in a stream that is captured; NULL: cannot */
	/* Of the nodes as the driver lists them LATER then waits for EARLIER; NULL: cannot. */
	void (*add_edge)(void *graph, uint32_t earlier, uint32_t later);
	void *(*instantiate)(void *graph);
	void (*exec_destroy)(void *exec);
	void (*exec_launch)(void *exec, void *stream);

	uint32_t attributes; /* launch attributes that nodes have here */
	void (*attributes_get)(void *node, struct dagpatch_attributes *ret_attributes);
	void (*attributes_set)(void *node, const struct dagpatch_attributes *attributes);
	void *(*graph_node)(void *graph, uint32_t index);
	int (*by_priorities)(void *exec); /* was it instantiated so? NULL: it cannot be told */
	void *(*stream_with_priority)(int priority); /* NULL, or NULL is returned: no such */

	bool reads_execs;    /* the driver lets an executable graph be read */
	bool sets_functions; /* and be given other functions */
	/* What this driver or its runtime does not do here. */
	bool graph_calls_race; /* of several threads, whatever graphs they are on */
	bool no_captured_copies;
	bool no_captured_rows; /* copies of one row */
	bool no_rows_set;      /* copies of several, in an executable graph */
	bool no_captured_blocks;
};

extern const struct bed bed_model, bed_hip, bed_cuda;

#endif
