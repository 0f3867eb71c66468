/* Work that is captured: what suite_captured.c and suite_refused.c share. */
#ifndef TESTS_PATCH_SUITE_WORK_H
#define TESTS_PATCH_SUITE_WORK_H

#include "suite.h"

/* What a capture callback does; it gets the addresses of its slots. */
struct work {
	int (*record)(struct work *work, void *stream, void *const *addresses);
	uint64_t scalar;
	void *fixed;
	uint32_t calls;
	int result;
};

/* A dagpatch_capture's `record`: counts the call and calls the `record` of USER, a struct work. */
int work_record(void *user, void *stream, void *const *addresses);

/* Adds WORK as a captured node in COUNT slots. Returns dagpatch's result. */
int work_add(struct dagpatch_recording *recording, struct work *work, const uint32_t *slots,
	     uint32_t count);

/* Launch KERNEL, or BED_ADD over WORDS words. Return 0 or -EIO. */
int work_launch(void *stream, enum bed_kernel kernel, void *const *parameters);
int work_launch_add(void *stream, void *c, void *a, void *b);

#endif
