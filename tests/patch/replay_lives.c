/* Recordings and replays whose lifetimes are tested: replay_lives.h. */
#include "replay_lives.h"

struct dagpatch_context *lives_context(enum dagpatch_strategy strategy)
{
	struct dagpatch_context *context;

	OK(NULL, dagpatch_context_create(
			 &DAGPATCH_SIZED(options, .driver = "model", .strategy = strategy),
			 &context, NULL));
	return context;
}

struct dagpatch_model_live lives_now(void)
{
	struct dagpatch_model_live now;

	dagpatch_model_live(&now);
	return now;
}

struct dagpatch_recording *lives_sum(struct dagpatch_context *context, const uint32_t flags[3],
				     uint32_t kernels)
{
	struct dagpatch_recording *recording;
	uint32_t slots[3], node = 0;

	OK(NULL, dagpatch_recording_create(context, 0, &recording));
	for (uint32_t i = 0; i < 3; i++)
		OK(recording, dagpatch_slot_add(recording,
						&DAGPATCH_SIZED(slot, .bytes = WORDS * 4,
								.flags = flags ? flags[i] : 0),
						&slots[i]));
	for (uint32_t i = 0; i < kernels; i++)
		node = add_three(recording, BED_ADD, slots, i ? AFTER(node) : NULL);
	OK(recording, dagpatch_finalize(recording));
	return recording;
}

void lives_bind(struct dagpatch_recording *recording, uint32_t *const buffers[3])
{
	OK(recording,
	   dagpatch_bind_all(recording, (const void *[]){buffers[0], buffers[1], buffers[2]}, 3));
}

void lives_begin(struct lives *lives, enum dagpatch_strategy strategy)
{
	lives->context = lives_context(strategy);
	lives->stale = dagpatch_model_stale_replays();
	for (uint32_t i = 0; i < 2; i++) {
		lives->streams[i] = suite_bed->stream_create();
		for (uint32_t j = 0; j < 3; j++)
			lives->buffers[i][j] = buffer(j ? 10 * i + j : 0);
	}
}

void lives_end(struct lives *lives)
{
	assert_int_equal(dagpatch_model_stale_replays(), lives->stale);
	dagpatch_context_destroy(lives->context);
	for (uint32_t i = 0; i < 2; i++) {
		suite_bed->stream_destroy(lives->streams[i]);
		for (uint32_t j = 0; j < 3; j++)
			buffer_free(lives->buffers[i][j]);
	}
}

const uint32_t lives_in_and_out[3] = {DAGPATCH_SHADOW_OUT, DAGPATCH_SHADOW_IN, 0};

/* A driver that keeps executable graphs for their replays, with and without the table, and one
 * that does not keep them. */
static const uint32_t drivers[] = {0, DAGPATCH_MODEL_NO_TABLE,
				   DAGPATCH_MODEL_NO_TABLE | DAGPATCH_MODEL_NO_KEPT_EXECS};
enum { DRIVERS = sizeof(drivers) / sizeof(*drivers) };

void lives_with_each_driver(void (*run)(enum dagpatch_strategy strategy))
{
	struct dagpatch_model_live before = lives_now(), after;

	for (uint32_t i = 0; i < DRIVERS; i++) {
		dagpatch_model_without(drivers[i]);
		run(drivers[i] & DAGPATCH_MODEL_NO_TABLE ? DAGPATCH_AUTO : DAGPATCH_DEVICE_TABLE);
	}
	dagpatch_model_without(suite_without);
	after = lives_now();
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(dagpatch_model_held(), 0);
}
