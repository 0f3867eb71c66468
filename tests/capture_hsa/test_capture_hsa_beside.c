/* dagtap beside a tool that interposes queues as rocprofiler-sdk does (interposer_tool.c), which
 * is loaded before or after dagtap, in all modes. The program must end, the other tool must see
 * the same as without dagtap, and every dispatch must be recorded or counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "play.h"

#define OTHER "hsa_interposer_tool.so"
#define EACH                                                                                       \
	"examples/raw-driver --producers 4 --queues 2 --packets 2000 --ring 64 --completion each " \
	"--profile"
#define SOME                                                                                       \
	"examples/raw-driver --producers 4 --queues 2 --packets 2000 --ring 64 --batch 5 --cross " \
	"--profile"
#define COUNT 2000

static const struct {
	const char *mode;
	bool is_serial;
	bool is_proxied;
} ways[] = {
	{"harvest", false, false},  {"borrow", false, false}, {"observe", false, false},
	{"intercept", false, true}, {"harvest", true, false}, {"borrow", true, false},
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* The device takes the packets that the other tool publishes only when dagtap rings its doorbell
 * (BY_DOORBELL), or also when the queue's index changes (BY_INDEX). */
#define BY_DOORBELL "gfx906,kernel_ns=2000,doorbell_bound=1"
#define BY_INDEX    "gfx906,kernel_ns=2000"

static struct play play_way(size_t way, bool is_before, const char *config,
			    const char *command_line)
{
	struct beside beside = {OTHER, is_before, ways[way].mode, ways[way].is_serial};
	struct play p = play_beside(&beside, config, command_line);

	play_check_ledger(&p);
	assert_int_equal(play_printed(&p, "interposed"), COUNT);
	assert_int_equal(play_printed(&p, "interposed_timed"), COUNT);
	return p;
}

static uint64_t unrecorded_of(const struct play *p)
{
	return rows_witness(p->folder, "hsa", "packets_unrecorded");
}

static void play_all_recorded(bool is_before, const char *config, const char *command_line)
{
	for (size_t i = 0; i < WAYS; i++) {
		struct play p = play_way(i, is_before, config, command_line);

		assert_int_equal(unrecorded_of(&p), 0);
		assert_int_equal(p.rows->dispatch_count, COUNT);
		play_end(&p);
	}
}

/* The reference run of the other tool without dagtap. */
static void the_other_tool_alone(void **state)
{
	static const char *const programs[] = {EACH, SOME};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct play p = play_bare(OTHER, "gfx906,kernel_ns=2000", programs[i]);

		assert_int_equal(play_printed(&p, "interposed"), COUNT);
		assert_int_equal(play_printed(&p, "interposed_timed"), COUNT);
		play_end(&p);
	}
}

static void the_other_tool_loads_first(void **state)
{
	(void)state;
	play_all_recorded(true, BY_DOORBELL, EACH);
	play_all_recorded(true, BY_INDEX, SOME);
}

static void the_other_tool_loads_second(void **state)
{
	(void)state;
	play_all_recorded(false, BY_DOORBELL, EACH);
	play_all_recorded(false, BY_DOORBELL, SOME);
}

/* play_check_ledger checks that packets that are not recorded are counted. */
static void the_device_may_be_ahead(void **state)
{
	(void)state;
	for (size_t i = 0; i < WAYS; i++) {
		struct play each = play_way(i, false, BY_INDEX, EACH);
		struct play some = play_way(i, false, BY_INDEX, SOME);

		play_end(&each);
		play_end(&some);
	}
}

/* Intercept queues pass packets on one by one, so the device cannot be ahead of them. */
static void the_device_is_ahead_always(void **state)
{
	(void)state;
	setenv("INTERPOSER_AHEAD", "1", 1);
	for (size_t i = 0; i < WAYS; i++) {
		struct play p;

		if (ways[i].is_proxied)
			continue;
		p = play_way(i, false, BY_INDEX, EACH);
		assert_int_equal(p.rows->dispatch_count, 0);
		assert_int_equal(p.rows->barriers, 0);
		assert_int_equal(unrecorded_of(&p),
				 COUNT + play_printed(&p, "barriers submitted:"));
		play_end(&p);
	}
	unsetenv("INTERPOSER_AHEAD");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_other_tool_alone),
		cmocka_unit_test(the_other_tool_loads_first),
		cmocka_unit_test(the_other_tool_loads_second),
		cmocka_unit_test(the_device_may_be_ahead),
		cmocka_unit_test(the_device_is_ahead_always),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
