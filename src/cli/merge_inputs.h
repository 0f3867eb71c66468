/* What dagtap merge refuses among its inputs. Threading: the main thread. */
#ifndef DAGTAP_CLI_MERGE_INPUTS_H
#define DAGTAP_CLI_MERGE_INPUTS_H

#include "merge/rank_notes.h"
#include "merge/rank_recording.h"

/* Checks that none of the COUNT paths is a folder. Returns CLI_OK, or CLI_FAILED after a message
 * that says what to give. */
int merge_inputs_check_folders(char *const *paths, uint32_t count);

/* Checks, before anything is read, that OUTPUT replaces none of the COUNT files of PATHS, and that
 * no file is given twice, under whatever names. Returns CLI_OK, or CLI_FAILED after a message. */
int merge_inputs_check_files(const char *output, char *const *paths, uint32_t count);

/* Checks that the times of the processes of the file PATH are possible. Returns CLI_OK, or
 * CLI_FAILED after a message. */
int merge_inputs_check_times(const char *path, const struct rank_recording *recording);

/* Checks that no two files hold the same recording of one process: on one machine, with the same
 * number, start and session. PROCESSES have their times as recorded; their files are those of
 * RANKS, with the clocks. Returns CLI_OK, or CLI_FAILED after a message. */
int merge_inputs_check_processes(const struct ranks *ranks, const struct rank_process *processes,
				 uint32_t count);

#endif
