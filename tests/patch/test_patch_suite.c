/* Runs the suite on one driver with each strategy. Options:
 *
 * - -r REBINDS: rebinds of the random graphs.
 * - -s SEED: seed of the random graphs; default: the test's seed.
 * - -R: the random graphs only.
 * - -S STRATEGY: this strategy only.
 * - -d: the cases for two devices only (exit status 77 with one device).
 * - -t ROUNDS: rounds of the threads on two devices.
 * - -w FEATURES: a model without these features (dagpatch/model.h).
 *
 * In the ThreadSanitizer build, which can find nothing in a case that starts no thread, only the
 * files with other cases run, unless the driver's streams have threads. With -R nothing is left
 * then (exit status 77). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dagpatch/model.h>

#include "../launched.h"
#include "suite.h"

static bool has_capability(enum dagpatch_capability capability)
{
	struct dagpatch_options options = {.size = sizeof(options), .driver = suite_bed->driver};
	struct dagpatch_context *context;
	bool has;

	if (dagpatch_context_create(&options, &context, NULL) < 0)
		return false;
	has = dagpatch_context_capabilities(context) & capability;
	dagpatch_context_destroy(context);
	return has;
}

/* Whether the cases without threads are left out. */
static bool only_threads(void)
{
#ifdef __SANITIZE_THREAD__
	return !suite_bed->has_stream_threads;
#else
	return false;
#endif
}

#ifndef SUITE_REBINDS
#define SUITE_REBINDS 1000
#endif

struct choice {
	uint32_t rebinds; /* for random graphs, over all strategies */
	uint64_t seed;
	bool only_random, only_devices;
	uint32_t rounds;      /* for threads on two devices */
	const char *strategy; /* NULL: all strategies */
};

/* The files whose cases start no threads. */
static int run_one_thread(void)
{
	int failed;

	suite_may_start_threads = false;
	failed = suite_graphs() + suite_copies() + suite_captured() + suite_refused() +
		 suite_addresses() + suite_recapture() + suite_adopted() + suite_given() +
		 suite_into() + suite_sets() + suite_attributes();
	failed += has_capability(DAGPATCH_HAS_CONDITIONALS) ? suite_conditionals()
							    : suite_no_conditionals();
	suite_may_start_threads = true;
	return failed;
}

static int run_strategy(const char *name, enum dagpatch_strategy strategy,
			const struct choice *choice)
{
	int failed = 0;

	if (choice->strategy && strcmp(choice->strategy, name) != 0)
		return 0;
	printf("---- %s, %s\n", suite_bed->driver, name);
	suite_strategy = strategy;
	if (choice->only_devices)
		return suite_devices(choice->seed, choice->rounds);
	if (!choice->only_random && !only_threads())
		failed += run_one_thread();
	/* The devices come after, because they look for misplaced calls of all cases. */
	if (!choice->only_random)
		failed += suite_states() + suite_devices(choice->seed, choice->rounds);
	if (!only_threads())
		failed += suite_random(choice->seed + strategy, choice->rebinds);
	return failed;
}

static int run_all(struct choice *choice)
{
	bool has_table = has_capability(DAGPATCH_HAS_TABLE);
	int failed = 0;

	choice->rebinds /= has_table ? 5 : 4;
	failed += run_strategy("auto", DAGPATCH_AUTO, choice);
	failed += run_strategy("set_params", DAGPATCH_SET_PARAMS, choice);
	failed += run_strategy("update_graph", DAGPATCH_UPDATE_GRAPH, choice);
	failed += run_strategy("instantiate", DAGPATCH_INSTANTIATE, choice);
	if (has_table)
		failed += run_strategy("device_table", DAGPATCH_DEVICE_TABLE, choice);
	return failed;
}

int main(int argc, char **argv)
{
	struct choice choice = {.rebinds = SUITE_REBINDS, .seed = test_seed(), .rounds = 1000};
	int option, failed;

	while ((option = getopt(argc, argv, "r:s:w:S:t:Rd")) != -1) {
		if (option == 'r')
			choice.rebinds = (uint32_t)strtoul(optarg, NULL, 0);
		else if (option == 's')
			choice.seed = strtoull(optarg, NULL, 0);
		else if (option == 'w')
			suite_without = (uint32_t)strtoul(optarg, NULL, 0);
		else if (option == 'R')
			choice.only_random = true;
		else if (option == 'S')
			choice.strategy = optarg;
		else if (option == 't')
			choice.rounds = (uint32_t)strtoul(optarg, NULL, 0);
		else if (option == 'd')
			choice.only_devices = true;
		else
			return 2;
	}
	dagpatch_model_without(suite_without);
	suite_bed = &SUITE_BED;
	if (choice.only_random && only_threads())
		return 77;
	failed = suite_bed->open();
	if (failed != 0)
		return failed;
	if (choice.only_devices && (!suite_bed->device_count || suite_bed->device_count() < 2)) {
		suite_bed->close();
		return 77;
	}
	failed = run_all(&choice);
	suite_bed->close();
	return failed != 0;
}
