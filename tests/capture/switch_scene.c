/* Scenes of the switch: see switch_scene.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "switch_scene.h"

int scene_setup(void **state)
{
	setenv("DAGTAP_READY", "4M", 1);
	return fixture_setup(state);
}

void scene_work(uint64_t count)
{
	bool is_on = session_is_on();

	for (uint64_t i = 0; i < count; i++)
		expect((is_on && fixture_put(session_writer(), i, 4)) == is_on);
}

void scene_arm(void)
{
	session_arm();
	switch_configure();
	expect(switch_is_armed());
}

void scene_assert_work(const struct fixture *fixture, void (*body)(void), const uint64_t *expected)
{
	int spools = 0;

	assert_int_equal(in_child(fixture->folder, body), 0);
	for (; *expected != NONE; expected++, spools++) {
		struct spool_reader *reader =
			fixture_open_session(fixture->folder, (uint32_t)spools);

		assert_non_null(reader);
		assert_true(spool_reader_info(reader)->closed);
		assert_int_equal(fixture_count(reader, RECORD_API), *expected);
		fixture_assert_sound(reader);
		spool_reader_close(reader);
	}
	assert_int_equal(fixture_files(fixture, NULL, 0), spools);
}
