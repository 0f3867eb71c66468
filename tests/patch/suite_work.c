/* Work that a capture callback submits (suite_work.h). */
#include "suite_work.h"

#include <errno.h>

int work_record(void *user, void *stream, void *const *addresses)
{
	struct work *work = user;

	work->calls++;
	return work->record(work, stream, addresses);
}

int work_add(struct dagpatch_recording *recording, struct work *work, const uint32_t *slots,
	     uint32_t count)
{
	return dagpatch_add_captured(recording,
				     &DAGPATCH_SIZED(capture, .record = work_record, .user = work,
						     .slots = slots, .slot_count = count),
				     NULL, NULL);
}

int work_launch(void *stream, enum bed_kernel kernel, void *const *parameters)
{
	return suite_bed->launch(stream, kernel, 2, WORDS / 2, parameters) ? -EIO : 0;
}

int work_launch_add(void *stream, void *c, void *a, void *b)
{
	uint32_t count = WORDS;

	return work_launch(stream, BED_ADD, (void *[]){&c, &a, &b, &count});
}
