/*
 * A case whose state is an XSpace maker. Adds planes, kernels and calls to it as XLA writes them,
 * and opens what was made.
 */
#ifndef DAGTAP_TESTS_FORMAT_MAKER_CASE_H
#define DAGTAP_TESTS_FORMAT_MAKER_CASE_H

#include "read_case.h"
#include "xspace_maker.h"

/* A case whose state is an empty maker (xspace_maker.h). */
int maker_setup(void **state);
#define MAKER_CASE(name) cmocka_unit_test_setup_teardown(name, maker_setup, kept_teardown)

/* Kernel details: a grid of 8 x 2 blocks of 128 threads. */
#define MAKER_DETAILS                                                                              \
	"regs:50 static_shared:16 dynamic_shared:8192 grid:8,2,1 block:128,1,1 occ_pct:56.25"

/*
 * Begin GPU 0 with stream 14, and thread 650 of the host, both from 1000 ns on; add a kernel and a
 * call NS after that.
 */
void maker_gpu(struct maker *maker);
void maker_kernel(struct maker *maker, const char *name, uint64_t ns, uint64_t cid);
void maker_host(struct maker *maker);
void maker_call(struct maker *maker, const char *name, uint64_t ns, uint64_t cid);

/*
 * Ends the XSpace and opens it; asserts that it is read. MAKER can then begin another one. The
 * case's end closes the trace.
 */
struct trace *maker_open(struct maker *maker);

#endif
