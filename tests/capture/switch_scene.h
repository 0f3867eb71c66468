/* Children that put records in the capture ranges that their environment asks for, and what their
 * spools must hold. For the tests of capture/capture_switch.h. */
#ifndef DAGTAP_TESTS_CAPTURE_SWITCH_SCENE_H
#define DAGTAP_TESTS_CAPTURE_SWITCH_SCENE_H

#include <stdint.h>

#include "in_child.h"

#define NONE UINT64_MAX

/* fixture_setup, with few ready chunks. */
int scene_setup(void **state);

/* In the child: puts COUNT records, which are in the spool if a recording is on. */
void scene_work(uint64_t count);

/* In the child: arms the switch with the options in the environment. */
void scene_arm(void);

/* Runs BODY in a child; expects spools with so many records of work, up to NONE. */
void scene_assert_work(const struct fixture *fixture, void (*body)(void), const uint64_t *expected);

#define EXPECTED(...)                                                                              \
	(const uint64_t[])                                                                         \
	{                                                                                          \
		__VA_ARGS__, NONE                                                                  \
	}

#endif
