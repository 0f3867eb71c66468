/* Plays an HSA program on the software GPU, in a process and a folder of its own, under the
 * injected library or another tool, and checks what was recorded. The functions assert. */
#ifndef TESTS_CAPTURE_HSA_PLAY_H
#define TESTS_CAPTURE_HSA_PLAY_H

#include <limits.h>
#include <stdint.h>

#include "rows.h"

struct play {
	char folder[PATH_MAX];
	struct rows *rows; /* NULL: not recorded */
	int exit_status;
};

/* "tests/hsa-scenes fork": runs it with the software GPU set to CONFIG; it must exit with 0. */
struct play play(const char *config, const char *command_line);
/* With VARIABLE=VALUE in its environment, too. */
struct play play_with(const char *variable, const char *value, const char *config,
		      const char *command_line);
/* Where what is waited for does not come: the wait with this timer's limit is given up at its first look (TIMERS as
 * in DAGTAP_TIMERS; all other limits never run out). MODE: of DAGTAP_HSA_MODE, or NULL. */
struct play play_giving_up(const char *timers, const char *mode, const char *config,
			   const char *command_line);
/* By a clock that stands still from the first; the program steps it. */
struct play play_held(const char *config, const char *command_line);
/* After TOOL, which lies in tests/. */
struct play play_behind(const char *tool, const char *config, const char *command_line);
/* Together with another tool that interposes queues, too. */
struct beside {
	const char *tool; /* in tests/ */
	bool is_before;	  /* dagtap: so its functions call dagtap's; else dagtap's call its */
	const char *mode; /* of DAGTAP_HSA_MODE */
	bool is_serial;
};
struct play play_beside(const struct beside *beside, const char *config, const char *command_line);
/* Under a design of hazard_designs.c. */
struct play play_hazard(const char *design, const char *config, const char *command_line);
/* Without the tool; TOOL: the name of another one in tests/, or NULL. */
struct play play_bare(const char *tool, const char *config, const char *command_line);
void play_end(struct play *play);

/* What the software GPU had counted when the program ended, whether or not the recording has it;
 * UINT64_MAX: no such counter. */
uint64_t play_device(const struct play *play, const char *counter);

/* The number behind "KEY " in what the program printed. */
uint64_t play_printed(const struct play *play, const char *key);

uint64_t play_drops(const struct rows *rows, enum record_class class);

/* Rows, the gates' own counts and the device's write indices say the same. On a busy machine
 * records may be dropped: then they are counted. */
void play_check_ledger(const struct play *play);
void play_print_untimed(const struct play *play);

/* Plays on a device that is slow enough for any machine to follow: COUNT dispatches, all timed. */
void play_timed(const char *config, const char *command_line, uint64_t count);

#endif
