/* What the hazardous designs are made of: hazard_tool.c puts one of them between program and runtime. */
#ifndef TESTS_CAPTURE_HSA_HAZARD_DESIGNS_H
#define TESTS_CAPTURE_HSA_HAZARD_DESIGNS_H

#include "vendor/hsa_tables.h"

struct hazard_design {
	const char *name;
	void (*start)(void); /* NULL: nothing to do */
	hsa_amd_queue_intercept_handler handler;
	void (*end)(void);
};

extern const struct hazard_design hazard_designs[]; /* the first is the usual one */
extern const size_t hazard_design_count;

/* The runtime's own functions. */
extern struct hsa_core_table hazard_core;
extern struct hsa_amd_ext_table hazard_ext;

#endif
