/* The choice of a queue's mode. */
#include "capture/hsa/queue_mode.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture_session.h"
#include "capture/env.h"
#include "capture/hsa/hsa_calls.h"

static const char *const names[RECORD_QUEUE_MODE_COUNT] = {
#define X(name, text) [RECORD_QUEUE_##name] = text,
	RECORD_QUEUE_MODES(X)
#undef X
};

/* Written by queue_mode_read, constant afterwards. */
static enum record_queue_mode asked_for = RECORD_QUEUE_HARVEST;
static bool serialises;
static char text[128]; /* empty: the environment is not read yet */

static enum record_queue_mode mode_of(const char *name)
{
	for (int i = 1; i < RECORD_QUEUE_MODE_COUNT; i++) {
		if (!strcmp(names[i], name))
			return (enum record_queue_mode)i;
	}
	return RECORD_QUEUE_UNKNOWN;
}

/* Returns why a queue of TYPE cannot have MODE, or NULL. */
static const char *problem(enum record_queue_mode mode, hsa_queue_type32_t type)
{
	if (mode == RECORD_QUEUE_OBSERVE && serialises)
		return "observe cannot tell when a kernel ends, so that the next may start";
	if (mode != RECORD_QUEUE_INTERCEPT)
		return NULL;
	if (serialises)
		return "an intercept queue cannot hold packets back";
	if (!hsa_next.hsa_amd_queue_intercept_create || !hsa_next.hsa_amd_queue_intercept_register)
		return "the runtime has no intercept queues";
	if (type == HSA_QUEUE_TYPE_COOPERATIVE)
		return "the runtime intercepts no cooperative queue";
	return NULL;
}

/* Writes one note in each process, because its queues are mostly of one kind. */
static void note_change(const char *reason)
{
	static atomic_flag is_said = ATOMIC_FLAG_INIT;
	char note[192];

	if (atomic_flag_test_and_set(&is_said))
		return;

	snprintf(note, sizeof(note), "HSA queue mode %s instead of %s: %s",
		 names[RECORD_QUEUE_HARVEST], names[asked_for], reason);
	session_note(note);
}

void queue_mode_read(void)
{
	enum record_queue_mode mode = mode_of(env_text(ENV_HSA_MODE));

	/* Read already. The monitor may be running since the runtime was open before, and reads
	 * these variables. */
	if (text[0])
		return;
	serialises = !strcmp(env_text(ENV_HSA_SERIALIZE), "1");
	asked_for = mode == RECORD_QUEUE_UNKNOWN ? RECORD_QUEUE_HARVEST : mode;
	if (mode == RECORD_QUEUE_UNKNOWN)
		session_note("DAGTAP_HSA_MODE names no mode: harvest is used");
	snprintf(text, sizeof(text), "packets of queues (mode %s%s), asynchronous copies, kernels",
		 names[asked_for], serialises ? ", one kernel at a time" : "");
}

static enum record_queue_mode choose(const char *reason)
{
	if (!reason)
		return asked_for;
	note_change(reason);
	return RECORD_QUEUE_HARVEST;
}

enum record_queue_mode queue_mode_choose(hsa_queue_type32_t type)
{
	return choose(problem(asked_for, type));
}

enum record_queue_mode queue_mode_choose_made(hsa_queue_type32_t type)
{
	const char *reason = problem(asked_for, type);

	if (!reason && asked_for == RECORD_QUEUE_INTERCEPT)
		reason = "a queue by description, and a counted one, are no intercept queues";
	return choose(reason);
}

bool queue_mode_serialises(void)
{
	return serialises;
}

bool queue_mode_needs_monitor(void)
{
	return serialises || asked_for == RECORD_QUEUE_BORROW;
}

const char *queue_mode_text(void)
{
	return text;
}
