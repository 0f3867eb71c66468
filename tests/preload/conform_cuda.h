/* What conform_cuda.c checks with: a program with an executable graph on the played driver. */
#ifndef TESTS_PRELOAD_CONFORM_CUDA_H
#define TESTS_PRELOAD_CONFORM_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "between_calls.h"
#include "vendor/cuda_types.h"

enum { WORDS = 8, BYTES = WORDS * 8 };

/* CUDA's functions as a program finds them: the wrappers, where there are some. */
struct conform_calls {
#define CONFORM_POINTER(name, parameters) int(*name) parameters;
	CUDA_FUNCTIONS(CONFORM_POINTER)
};
extern struct conform_calls cu;
extern struct between *between;
extern cuda_context context;

#define CHECK(name, ...) expect(#name, (uint64_t)cu.name(__VA_ARGS__), CUDA_OK)

/* Ends the program if GOT is not WANT. */
void expect(const char *what, uint64_t got, uint64_t want);

/* ---- conform_program.c ---- */

struct program {
	cuda_stream stream;
	cuda_graph graph, child; /* CHILD: what the child node is set to; has one kernel */
	cuda_exec exec;
	cuda_node kernel, copy, memset, host, record, wait, nested, in_child;
	cuda_event events[2];
	uint32_t *buffer;
	uint64_t sets; /* calls that set a node and reached the driver, before the checked call */
};

struct kernel {
	uint32_t *at;
	uint32_t value;
	void *pointers[2];
	struct cuda_kernel_node_params params;
	/* CUDA_KERNEL_NODE_PARAMS_v1 */
	struct {
		cuda_function function;
		unsigned int dimensions[6], shared_bytes;
		void **pointers, **extra;
	} older;
};

/* Finds CUDA, makes its context current. */
void open_cuda(void);

/* The parameters of a node, which is set to VALUE or VARIANT. */
struct cuda_kernel_node_params *fill(struct kernel *kernel, const struct program *program,
				     uint32_t value);
struct cuda_memcpy3d copy_params(const struct program *program, uint32_t variant);
struct cuda_memset_node_params memset_params(const struct program *program, uint32_t variant);
void work(void *user);

/* Sets the program's kernel. */
void set_kernel(struct program *program, uint32_t value);

/* Calls that set a kernel and reached the driver. */
uint64_t sets_now(void);

/* Makes a program whose kernel was set to two values that the driver has accepted: the executable
 * has the second one, the first one is wanted. */
void make(struct program *program);
void destroy(struct program *program);

#endif
