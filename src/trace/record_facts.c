/* The times in records (record_facts.h). */
#include "trace/record_facts.h"

uint64_t record_moment(const struct record_header *header)
{
	const void *at = header;

	switch (header->type) {
	case RECORD_THREAD:
		return ((const struct record_thread *)at)->ns;
	case RECORD_API:
		return ((const struct record_api *)at)->end_ns;
	case RECORD_DISPATCH:
		return ((const struct record_dispatch *)at)->ns;
	case RECORD_COPY:
		return ((const struct record_copy *)at)->ns;
	case RECORD_SCOPE:
		return ((const struct record_scope *)at)->ns;
	case RECORD_ANCHOR:
		return ((const struct record_anchor *)at)->host_ns;
	case RECORD_CUDA_GRAPH:
		return ((const struct record_cuda_graph *)at)->ns;
	case RECORD_CUDA_UPDATE:
		return ((const struct record_cuda_update *)at)->ns;
	default:
		return 0;
	}
}
