/* Recordings: creation and destruction. */
#include <errno.h>
#include <stdlib.h>

#include "patch/context.h"
#include "patch/node_append.h"
#include "patch/ownership.h"
#include "patch/recording.h"
#include "patch/retire.h"
#include "patch/revise.h"
#include "patch/slots.h"

static void join(struct dagpatch_context *context, struct dagpatch_recording *recording)
{
	pthread_mutex_lock(&context->lock);
	recording->at = &context->recordings;
	recording->next = context->recordings;
	if (recording->next)
		recording->next->at = &recording->next;
	context->recordings = recording;
	pthread_mutex_unlock(&context->lock);
}

/* After this no other thread can evict the recording's graph. */
static void leave(struct dagpatch_context *context, struct dagpatch_recording *recording)
{
	pthread_mutex_lock(&context->lock);
	*recording->at = recording->next;
	if (recording->next)
		recording->next->at = recording->at;
	pthread_mutex_unlock(&context->lock);
}

int dagpatch_recording_create(struct dagpatch_context *context, uint32_t flags,
			      struct dagpatch_recording **ret_recording)
{
	struct dagpatch_recording *recording;

	if (!context || !ret_recording ||
	    flags & ~(uint32_t)(DAGPATCH_DERIVE_DEPENDENCIES | DAGPATCH_NESTED))
		return -EINVAL;
	recording = calloc(1, sizeof(*recording));
	if (!recording)
		return -ENOMEM;
	recording->context = context;
	recording->device = context->device;
	recording->flags = flags;
	context->references++;
	join(context, recording);
	reap(context);
	*ret_recording = recording;
	return 0;
}

static void release_all(struct dagpatch_recording *recording)
{
	retire_all(recording);
	recording_rewind(recording, &(struct mark){0});
	if (recording->source && !recording->foreign_exec)
		recording->device->driver->graph_destroy(recording->device, recording->source);
	revisions_clear(recording);
	dagpatch_recording_destroy(recording->revisions.scratch);
	revisions_release(recording);
	free(recording->nodes);
	free(recording->images);
	free(recording->adopted);
	free(recording->after_end);
	free(recording->after);
	free(recording->accesses);
	free(recording->works);
	free(recording->recaptures);
	free(recording->conditionals);
	free(recording->attributes);
	free(recording->loose);
	finalize_release(recording);
}

void dagpatch_recording_destroy(struct dagpatch_recording *recording)
{
	struct dagpatch_context *context;
	struct device_visit visit;
	bool is_inside;

	if (recording_own(recording) < 0)
		return;
	context = recording->context;
	leave(context, recording);
	/* Host memory is freed even if the device can no longer be entered. */
	is_inside = device_enter(context->device, &visit) == 0;
	release_all(recording);
	if (is_inside)
		device_leave(&visit);
	free(recording);
	reap(context);
	context_release(context);
}

enum dagpatch_state dagpatch_recording_state(const struct dagpatch_recording *recording)
{
	return recording ? recording->state : DAGPATCH_LOST;
}
