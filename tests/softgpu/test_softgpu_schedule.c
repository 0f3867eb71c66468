/* The order of work that the device draws from a seed: every allowed order occurs, no other
 * order does, and a seed always gives the same order. A separate process shows the orders of a
 * seed: it prints one line per round, with a letter for each piece of work in the order in which
 * it ran. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <dagtap/softgpu.h>
#include <hsa/hsa_ext_amd.h>

#include "aql.h"

#define ROUNDS	16
#define KERNELS 6 /* per round */
#define SEEDS	4
#define TEXT	4096

/* ---- the process that prints ---- */

static struct aql aql;
static char ran[64];
static uint32_t ran_count;

/* The argument is the address of the kernel's letter. */
static void record(const void *kernarg, const struct hsa_kernel_dispatch_packet_s *packet)
{
	ran[ran_count++] = **(const char *const *)kernarg;
}

static void set_letters(char *letters, char **kernargs, char first)
{
	for (uint32_t i = 0; i < KERNELS; i++) {
		letters[i] = (char)(first + (char)i);
		kernargs[8 * i] = &letters[i];
	}
}

struct round {
	hsa_queue_t *queues[2];
	char **kernargs; /* one per 64 bytes */
	hsa_signal_t first, done;
};

static void submit(const struct round *round, uint32_t kernel, uint32_t queue, enum aql_order order,
		   hsa_signal_t completion)
{
	hsa_kernel_dispatch_packet_t packet =
		aql_dispatch(aql.count, &round->kernargs[8 * kernel], order, completion);

	aql_submit(round->queues[queue], &packet);
}

/* All work of a round is submitted before any of it runs, and the program waits only once. */
static void run_round(const struct round *round, void (*submit_all)(const struct round *round),
		      uint32_t pieces)
{
	ran_count = 0;
	softgpu_take_hold();
	hsa_signal_store_screlease(round->first, 1);
	hsa_signal_store_screlease(round->done, pieces);
	submit_all(round);
	softgpu_take_release();
	aql_wait(round->done);
	printf("%.*s\n", (int)ran_count, ran);
}

static void submit_overlapping(const struct round *round)
{
	for (uint32_t i = 0; i < KERNELS; i++)
		submit(round, i, 0, AQL_OVERLAP, round->done);
}

static void submit_in_order(const struct round *round)
{
	for (uint32_t i = 0; i < KERNELS; i++)
		submit(round, i, 0, AQL_BARRIER, round->done);
}

static void submit_to_two(const struct round *round)
{
	for (uint32_t i = 0; i < KERNELS; i++)
		submit(round, i, i / (KERNELS / 2), AQL_BARRIER, round->done);
}

/* The second queue waits for the last kernel of the first queue, by its signal. */
static void submit_dependent(const struct round *round)
{
	hsa_barrier_and_packet_t barrier =
		aql_barrier(HSA_PACKET_TYPE_BARRIER_AND, AQL_OVERLAP, round->done);

	barrier.dep_signal[0] = round->first;
	aql_submit(round->queues[1], &barrier);
	for (uint32_t i = KERNELS / 2; i < KERNELS; i++)
		submit(round, i, 1, AQL_BARRIER, round->done);
	for (uint32_t i = 0; i < KERNELS / 2 - 1; i++)
		submit(round, i, 0, AQL_BARRIER, round->done);
	submit(round, KERNELS / 2 - 1, 0, AQL_BARRIER, round->first);
}

static char *copied; /* holds the letter of kernel 0; capitals are copied to it */
static char *capitals;

static void submit_copy(const struct round *round)
{
	copied[0] = 'a';
	assert_int_equal(hsa_amd_memory_async_copy(copied, aql.machine.gpu[0], capitals,
						   aql.machine.gpu[0], 1, 0, NULL, round->done),
			 HSA_STATUS_SUCCESS);
	submit(round, 0, 0, AQL_BARRIER, round->done);
}

static void submit_copy_before(const struct round *round)
{
	hsa_barrier_and_packet_t barrier =
		aql_barrier(HSA_PACKET_TYPE_BARRIER_AND, AQL_OVERLAP, round->done);

	copied[0] = 'a';
	barrier.dep_signal[0] = round->first;
	aql_submit(round->queues[0], &barrier);
	submit(round, 0, 0, AQL_BARRIER, round->done);
	assert_int_equal(hsa_amd_memory_async_copy(copied, aql.machine.gpu[0], capitals,
						   aql.machine.gpu[0], 1, 0, NULL, round->first),
			 HSA_STATUS_SUCCESS);
}

static const struct {
	const char *name;
	void (*submit)(const struct round *round);
	uint32_t pieces;
} kinds[] = {
	{"overlapping", submit_overlapping, KERNELS},
	{"in order", submit_in_order, KERNELS},
	{"two queues", submit_to_two, KERNELS},
	{"dependent", submit_dependent, KERNELS},
	{"copy", submit_copy, 2},
	{"copy before", submit_copy_before, 2},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int print_orders(const char *seed)
{
	struct round round = {0};
	char configuration[64];

	snprintf(configuration, sizeof(configuration), "gfx906,schedule=%s", seed);
	aql_open(configuration, &aql);
	assert_int_equal(softgpu_kernel_register("count", record), 0);
	round.queues[0] = aql_queue(&aql, 64);
	round.queues[1] = aql_queue(&aql, 64);
	round.kernargs = machine_allocate(aql.machine.kernarg, 4096);
	round.first = aql_signal(0);
	round.done = aql_signal(0);
	copied = machine_allocate(aql.machine.fine, 4096);
	capitals = machine_allocate(aql.machine.fine, 4096);
	capitals[0] = 'A';
	set_letters(copied, round.kernargs, 'a');
	for (size_t i = 0; i < KINDS; i++)
		for (uint32_t j = 0; j < ROUNDS; j++)
			run_round(&round, kinds[i].submit, kinds[i].pieces);
	return 0;
}

/* ---- the process that polls ---- */

static _Atomic bool clock_stands_still;

/* The C library's function, with which the schedule finds out that the program is idle. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	if (!clock_stands_still)
		return (int)syscall(SYS_clock_gettime, clock, ret_time);
	*ret_time = (struct timespec){.tv_sec = 1};
	return 0;
}

/* Ends only if the device takes the kernel while no time passes. */
static int poll_without_time(void)
{
	struct round round = {0};
	char letters[KERNELS];

	aql_open("gfx906,schedule=1", &aql);
	assert_int_equal(softgpu_kernel_register("count", record), 0);
	round.queues[0] = aql_queue(&aql, 64);
	round.kernargs = machine_allocate(aql.machine.kernarg, 4096);
	round.done = aql_signal(1);
	set_letters(letters, round.kernargs, 'a');
	clock_stands_still = true;
	submit(&round, 0, 0, AQL_BARRIER, round.done);
	while (hsa_signal_load_scacquire(round.done) != 0)
		softgpu_program_waits();
	clock_stands_still = false;
	return ran_count == 1 ? 0 : 1;
}

/* ---- the test ---- */

static const char *self;
static char orders[SEEDS][TEXT];

static void read_orders(uint32_t seed, char ret_text[TEXT])
{
	char command[TEXT];
	size_t bytes;
	FILE *pipe;

	snprintf(command, sizeof(command), "'%s' %u", self, seed);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	bytes = fread(ret_text, 1, TEXT - 1, pipe);
	ret_text[bytes] = '\0';
	assert_int_equal(pclose(pipe), 0);
}

/* Calls EXPECT for each line of KIND, over all seeds. */
static void for_each_order(const char *kind, void (*expect)(const char *order))
{
	for (uint32_t seed = 0; seed < SEEDS; seed++) {
		const char *line = orders[seed];

		for (size_t i = 0; i < KINDS * ROUNDS; i++) {
			char order[TEXT];

			assert_int_equal(sscanf(line, "%s", order), 1);
			line += strlen(order) + 1;
			if (!strcmp(kinds[i / ROUNDS].name, kind))
				expect(order);
		}
		assert_int_equal(*line, '\0');
	}
}

static uint32_t count_first[256], count_other;

static void count_order(const char *order)
{
	count_first[(unsigned char)order[0]]++;
	count_other += strcmp(order, "abcdef") != 0;
}

static void count_orders(const char *kind)
{
	memset(count_first, 0, sizeof(count_first));
	count_other = 0;
	for_each_order(kind, count_order);
}

/* The order has all pieces, each once. */
static void expect_all(const char *order)
{
	assert_int_equal(strlen(order), KERNELS);
	for (uint32_t i = 0; i < KERNELS; i++)
		assert_non_null(strchr(order, 'a' + (int)i));
}

/* Packets without the barrier bit have no order: each of them comes first under some seed. */
static void each_packet_without_barrier_bit_may_be_first(void **state)
{
	for_each_order("overlapping", expect_all);
	count_orders("overlapping");
	for (uint32_t i = 0; i < KERNELS; i++)
		assert_true(count_first['a' + i] > 0);
}

static void barrier_bits_keep_the_order(void **state)
{
	count_orders("in order");
	assert_int_equal(count_other, 0);
}

static void expect_halves_in_order(const char *order)
{
	expect_all(order);
	assert_true(strchr(order, 'a') < strchr(order, 'b'));
	assert_true(strchr(order, 'b') < strchr(order, 'c'));
	assert_true(strchr(order, 'd') < strchr(order, 'e'));
	assert_true(strchr(order, 'e') < strchr(order, 'f'));
}

static uint32_t wholly_first, wholly_last;

static void count_halves(const char *order)
{
	wholly_first += !strcmp(order, "abcdef");
	wholly_last += !strcmp(order, "defabc");
}

static void either_queue_may_be_last_of_all(void **state)
{
	for_each_order("two queues", expect_halves_in_order);
	for_each_order("two queues", count_halves);
	assert_true(wholly_first > 0);
	assert_true(wholly_last > 0);
	assert_true(wholly_first + wholly_last < SEEDS * ROUNDS);
}

static void a_dependency_is_kept(void **state)
{
	count_orders("dependent");
	assert_int_equal(count_other, 0);
	count_orders("copy before");
	assert_int_equal(count_first['A'], SEEDS * ROUNDS);
}

/* A copy that no dependency orders before a kernel may run after it. */
static void a_copy_may_come_too_late(void **state)
{
	count_orders("copy");
	assert_true(count_first['a'] > 0);
	assert_true(count_first['A'] > 0);
}

/* The same seed gives the same order again; other seeds give others. */
static void a_seed_is_an_order(void **state)
{
	char again[TEXT];

	for (uint32_t i = 0; i < SEEDS; i++) {
		read_orders(i + 1, again);
		assert_string_equal(orders[i], again);
		assert_true(i == 0 || strcmp(orders[i], orders[i - 1]) != 0);
	}
}

static void a_program_that_polls_can_say_so(void **state)
{
	char command[TEXT];

	snprintf(command, sizeof(command), "'%s' polls", self);
	assert_int_equal(system(command), 0);
}

static int read_all(void **state)
{
	for (uint32_t i = 0; i < SEEDS; i++)
		read_orders(i + 1, orders[i]);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_packet_without_barrier_bit_may_be_first),
		cmocka_unit_test(barrier_bits_keep_the_order),
		cmocka_unit_test(either_queue_may_be_last_of_all),
		cmocka_unit_test(a_dependency_is_kept),
		cmocka_unit_test(a_copy_may_come_too_late),
		cmocka_unit_test(a_seed_is_an_order),
		cmocka_unit_test(a_program_that_polls_can_say_so),
	};

	self = argv[0];
	if (argc > 1)
		return strcmp(argv[1], "polls") ? print_orders(argv[1]) : poll_without_time();
	return cmocka_run_group_tests(tests, read_all, NULL);
}
