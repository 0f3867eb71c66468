/* A bed is the device that the dagpatch tests and benchmarks run on: one table of functions for
 * a driver's memory, streams, kernels, events, captures and graphs, so that the same test runs
 * on the model, on HIP and on CUDA.
 *
 * A function ends the test program with a message when the driver fails, unless its comment says
 * that it returns the driver's code. Streams, events, graphs, nodes and executable graphs are
 * the driver's own handles. */
#ifndef TESTS_PATCH_BED_H
#define TESTS_PATCH_BED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dagpatch/dagpatch.h>

/* Kernels for one-dimensional grids. Thread i of grid * block threads handles element i, if
 * there is one. */
enum bed_kernel {
	BED_ADD, /* u32 *c, const u32 *a, const u32 *b, u32 n: c[i] = a[i] + b[i] */
	BED_MUL, /* as BED_ADD, with * instead of + */
	/* u64 *out, const u64 *in, u64 scalar, u32 n: out[i] = out[i] * 31 + in[i] + scalar */
	BED_FOLD,
	BED_MARK,   /* u32 *at, u32 value: thread 0 does at[0] += value */
	BED_STRUCT, /* struct bed_struct by value: dst[i] = src[i] + (u32)scalar */
	BED_PACKED, /* struct bed_packed by value; otherwise as BED_STRUCT */
	BED_HOLD,   /* const u32 *flag (pinned host memory): thread 0 waits until it is not 0 */
	/* i32 *counter, u32 *sum, u32 value: thread 0 does sum[0] += value, counter[0]-- */
	BED_COUNT_DOWN,
	BED_KERNELS
};

/* The argument of BED_STRUCT. The addresses are at the natural alignment of a C struct. */
struct bed_struct {
	uint32_t *dst;
	uint64_t scalar;
	uint32_t count;
	uint32_t unused;
	const uint32_t *src;
};

/* The argument of BED_PACKED. Its addresses are at offsets that no unpacked C struct gives them. */
struct bed_packed {
	uint32_t count;
	uint32_t *dst;	     /* offset 4 */
	uint8_t scalar;	     /* offset 12 */
	const uint32_t *src; /* offset 13 */
	uint8_t unused[3];
} __attribute__((packed));

/* A copy of depth * height rows of width bytes. Pitches are in bytes. */
struct bed_copy {
	void *dst;
	const void *src;
	size_t dst_pitch, dst_rows, src_pitch, src_rows; /* 0: width for a pitch, height for rows */
	size_t width, height, depth;
};

#define NO_DEVICE UINT32_MAX

struct bed {
	const char *driver; /* value of dagpatch_options.driver */
	/* Opens the driver and loads the kernels. Returns 0, or 77 when this machine has no such
	 * device. */
	int (*open)(void);
	void (*close)(void);

	/* Every function below that creates streams or memory, moves bytes or launches uses the
	 * calling thread's current device. NO_DEVICE means that the thread has none. The thread
	 * that calls open() gets device 0. */
	uint32_t (*device_count)(void); /* NULL: there is one device */
	void (*device_set)(uint32_t device);
	uint32_t (*device_current)(void);
	/* the driver's handle for the per-thread stream; NULL: the driver has none */
	void *per_thread_stream;

	void *(*alloc)(size_t bytes); /* aligned to 256 bytes or more */
	void (*free)(void *address);
	void *(*alloc_host)(size_t bytes); /* pinned; the device uses the same address */
	void (*free_host)(void *address);
	void (*write)(void *dst, const void *src, size_t bytes); /* complete on return */
	void (*read)(void *dst, const void *src, size_t bytes);

	void *(*stream_create)(void);
	void (*stream_destroy)(void *stream);
	void (*stream_synchronize)(void *stream);

	void *(*function)(enum bed_kernel kernel); /* value of dagpatch_kernel.function */
	/* Return 0 or the driver's code. Both also work in a stream that is being captured. */
	int (*launch)(void *stream, enum bed_kernel kernel, uint32_t grid, uint32_t block,
		      void *const *parameters);
	/* Passes the arguments as one block through `extra`. NULL: the driver cannot. */
	int (*launch_block)(void *stream, enum bed_kernel kernel, uint32_t grid, uint32_t block,
			    const void *arguments, size_t bytes);
	int (*copy)(void *stream, const struct bed_copy *copy);
	int (*memset)(void *stream, void *dst, uint32_t value, uint32_t element_bytes,
		      size_t width);
	/* Launches a host function into the stream. NULL: the driver cannot. */
	int (*host)(void *stream, void (*function)(void *user), void *user);

	void *(*event_create)(void);
	void (*event_destroy)(void *event);
	int (*event_record)(void *stream, void *event); /* in a capture it becomes edges */
	int (*event_wait)(void *stream, void *event);
	bool (*event_is_done)(void *event);

	void (*capture_begin)(void *stream);
	/* Begins the capture in the driver's strictest mode. NULL: the driver has one mode only. */
	void (*capture_begin_global)(void *stream);
	void *(*capture_end)(void *stream);
	void (*graph_destroy)(void *graph);
	int (*graph_launch)(
		void *stream,
		void *graph); /* adds a child graph to the capture of STREAM; NULL: cannot */
	/* Adds the edge earlier -> later between nodes, numbered as the driver lists them. NULL:
	 * the driver cannot add edges. */
	void (*add_edge)(void *graph, uint32_t earlier, uint32_t later);
	void *(*instantiate)(void *graph);
	void (*exec_destroy)(void *exec);
	void (*exec_launch)(void *exec, void *stream);

	uint32_t attributes; /* DAGPATCH launch attributes that this driver's nodes have */
	void (*attributes_get)(void *node, struct dagpatch_attributes *ret_attributes);
	void (*attributes_set)(void *node, const struct dagpatch_attributes *attributes);
	void *(*graph_node)(void *graph, uint32_t index);
	/* 1 if EXEC was instantiated with node priorities, else 0; NULL: the driver cannot tell */
	int (*by_priorities)(void *exec);
	/* returns NULL, or is NULL, if the driver has no priorities */
	void *(*stream_with_priority)(int priority);

	/* Threads of this process do the work of streams, beside the thread that gives it. */
	bool has_stream_threads;
	bool reads_execs;    /* the driver can read the nodes of an executable graph */
	bool sets_functions; /* the driver can change the kernel functions of an executable graph */
	/* Limits of this driver or its runtime. */
	bool graph_calls_race;	 /* graph calls of several threads race, even on different graphs */
	bool no_captured_copies; /* captures cannot contain copies */
	bool no_captured_rows;	 /* captures cannot contain copies of one row */
	bool no_rows_set; /* copies of several rows cannot be changed in an executable graph */
	bool no_captured_blocks; /* captures cannot contain launch_block */
};

extern const struct bed bed_model, bed_hip, bed_cuda;

#endif
