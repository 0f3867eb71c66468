/*
 * A process that ends in a signal handler does not wait for the record that the handler
 * interrupted, even if that record is being refused and counted at the session.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "in_child.h"
#include "step.h"

static struct fixture fixture;
static struct spooler *spooler;
static struct writer *writer;
static uint32_t instruction;

static int setup(void **state)
{
	struct fixture *made;

	if (fixture_setup(state))
		return -1;
	made = *state;
	fixture = *made;
	return 0;
}

static void refuse(void)
{
	expect(!writer_refuse(writer, RECORD_API));
}

/* -EBUSY within the record: its counters are not complete. */
static void end(void)
{
	int err = spooler_close(spooler);

	_exit(err && err != -EBUSY);
}

static void refuse_and_end(void)
{
	spooler = fixture_open_spool(&fixture);
	writer = fixture_writer(spooler, "interrupted");
	expect(!interrupt_at(instruction, refuse, end));
	_exit(2);
}

static void its_end_does_not_wait_for_itself(void **state)
{
	int status = 0;

	(void)state;
	for (instruction = 1; !status; instruction++)
		status = in_child(fixture.folder, refuse_and_end);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 2);
	assert_true(instruction > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(its_end_does_not_wait_for_itself, setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
