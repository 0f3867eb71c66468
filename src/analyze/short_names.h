/* Short names of kernels that still tell them apart.
 *
 * A C++ kernel's demangled name may have hundreds of characters, and kernels of one template begin
 * alike. The short name leaves out the return type, the parameters, namespaces and template
 * arguments, but keeps the functor, the class among the arguments that says what the kernel
 * computes: "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>,
 * std::array<char*, 3ul> >(int, ...)" becomes "vectorized_elementwise_kernel<CUDAFunctor_add>". Of
 * names whose short names would be equal, as much more is kept as is needed. */
#ifndef DAGTAP_ANALYZE_SHORT_NAMES_H
#define DAGTAP_ANALYZE_SHORT_NAMES_H

#include "trace/trace_model.h"

struct short_name {
	const char *full; /* borrowed */
	char *text;	  /* owned */
	int level;	  /* how much of the full name it keeps (short_names.c) */
};

struct short_names {
	struct short_name *rows; /* by full name */
	uint32_t count;
};

/* Shortens the COUNT texts of NAMES, which must outlive RET_NAMES; equal ones count once. Different
 * names get different short names. 0, or -ENOMEM with RET_NAMES unchanged; the caller releases
 * RET_NAMES. */
int short_names_make(const char *const *names, uint32_t count, struct short_names *ret_names);

/* The same for the kernels of COUNT traces together: of their activities and of their graphs. */
int short_names_of_traces(const struct trace *const *traces, uint32_t count,
			  struct short_names *ret_names);
void short_names_release(struct short_names *names);

/* The short name of FULL, owned by NAMES; FULL itself if it is not among the names. */
const char *short_names_find(const struct short_names *names, const char *full);

#endif
