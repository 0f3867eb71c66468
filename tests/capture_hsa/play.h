/* Runs an HSA program on the software GPU, in a child process with a folder of its own, under
 * the injected library or another tool, and reads what was recorded. All functions fail the
 * cmocka test on an error. */
#ifndef TESTS_CAPTURE_HSA_PLAY_H
#define TESTS_CAPTURE_HSA_PLAY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "hsa_rows.h"

/* One finished run. The caller ends it with play_end. */
struct play {
	char folder[PATH_MAX]; /* holds the spool, the program's output and the device's report */
	struct rows *rows;     /* owned; NULL: the program made no spool */
	int exit_status;       /* as waitpid reports it; the play functions assert that it is 0 */
};

/* Runs COMMAND_LINE (such as "tests/hsa-scenes fork") with DAGTAP_SOFTGPU set to CONFIG under
 * the injected library. The program must exit with 0. */
struct play play(const char *config, const char *command_line);
/* As play, with VARIABLE=VALUE added to the program's environment. */
struct play play_with(const char *variable, const char *value, const char *config,
		      const char *command_line);
/* As play, for programs that wait for something that never comes. TIMERS (syntax of
 * DAGTAP_TIMERS) sets the limits that expire at the first check; all other limits never expire.
 * MODE is the value of DAGTAP_HSA_MODE, or NULL. */
struct play play_giving_up(const char *timers, const char *mode, const char *config,
			   const char *command_line);
/* As play, with a clock that stands still from the start. The program advances it. */
struct play play_held(const char *config, const char *command_line);
/* As play, with the tool library TOOL (in tests/) loaded before dagtap. */
struct play play_behind(const char *tool, const char *config, const char *command_line);
/* A run beside another tool that interposes queues. */
struct beside {
	const char *tool; /* file name in tests/ */
	/* true: the tool is loaded before dagtap, so its functions call dagtap's; false:
	 * dagtap's functions call the tool's */
	bool is_before;
	const char *mode; /* value of DAGTAP_HSA_MODE */
	bool is_serial;	  /* sets DAGTAP_HSA_SERIALIZE=1 */
};
struct play play_beside(const struct beside *beside, const char *config, const char *command_line);
/* Runs the program under a design of hazard_designs.c instead of dagtap. */
struct play play_hazard(const char *design, const char *config, const char *command_line);
/* Runs the program without dagtap. TOOL is another tool library in tests/, or NULL. */
struct play play_bare(const char *tool, const char *config, const char *command_line);
/* Whether the test is run with PLAY_DOOR=sdk: programs that dagtap traces alone have a profiler
 * (tests/sdk/client.c), which finds librocprofiler-sdk.so.1, and that loads dagtap. The play
 * functions then assert that the profiler got each timed dispatch once. */
bool play_is_through_sdk(void);

/* Frees the rows and removes the folder. */
void play_end(struct play *play);

/* The software GPU's counter COUNTER at the end of the program, from the device's report, which
 * is independent of the recording. UINT64_MAX: there is no such counter. */
uint64_t play_device(const struct play *play, const char *counter);

/* The decimal number after "KEY " in the program's output; of several lines the last one counts. */
uint64_t play_printed(const struct play *play, const char *key);

/* Dropped records of CLASS, summed over all causes. */
uint64_t play_drops(const struct rows *rows, enum record_class class);

/* Asserts that the rows, the gates' own counts and the device's write indices agree. On a busy
 * machine records may be dropped; the check includes the drop counters. */
void play_check_ledger(const struct play *play);
/* Prints how many dispatches and copies are untimed, by cause. */
void play_print_untimed(const struct play *play);

/* Plays a program and asserts that all of its COUNT dispatches are recorded and timed. CONFIG
 * must make the device slow enough that no record is dropped on any machine. */
void play_timed(const char *config, const char *command_line, uint64_t count);

#endif
