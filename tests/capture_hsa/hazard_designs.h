/* The hazardous designs: ways to intercept queues that are known to fail. hazard_tool.c places
 * one of them between the program and the runtime. */
#ifndef TESTS_CAPTURE_HSA_HAZARD_DESIGNS_H
#define TESTS_CAPTURE_HSA_HAZARD_DESIGNS_H

#include "vendor/hsa_tables.h"

struct hazard_design {
	const char *name;			 /* value of HAZARD that selects the design */
	void (*start)(void);			 /* called by OnLoad; NULL: nothing to start */
	hsa_amd_queue_intercept_handler handler; /* registered for every queue */
	void (*end)(void);			 /* called by OnUnload; NULL: nothing to end */
};

extern const struct hazard_design hazard_designs[]; /* the first entry is the default */
extern const size_t hazard_design_count;

/* The runtime's functions, copied from the dispatch tables by OnLoad. */
extern struct hsa_core_table hazard_core;
extern struct hsa_amd_ext_table hazard_ext;

#endif
