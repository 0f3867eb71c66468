/* The environment in which a program is run: libraries found beside this executable. */
#ifndef DAGTAP_CLI_LAUNCH_H
#define DAGTAP_CLI_LAUNCH_H

#include <stdbool.h>

#include "base/error.h"

/* Path of a library of the installation, NAME relative to ../lib/dagtap of the running
 * executable; checked to be there. Caller frees. */
int launch_find(const char *name, char **ret_path, struct dagtap_error *error);

/* Adds PATH behind what the variable holds, separated by SEPARATOR (LD_PRELOAD, HSA_TOOLS_LIB). */
int launch_append(const char *variable, const char *path, char separator);

/* DAGTAP_SOFTGPU and the preload of the software GPU. CONFIG may be "" or NULL. -EINVAL: the
 * software GPU does not understand it. */
int launch_use_softgpu(const char *config, struct dagtap_error *error);

/* Prints the keys that a configuration may have on stdout, as the software GPU lists them. */
int launch_print_softgpu_keys(struct dagtap_error *error);

/* Which vendor's GPUs are traced. */
enum launch_backend { LAUNCH_AUTO, LAUNCH_HSA, LAUNCH_CUDA };

/* HSA_TOOLS_LIB, CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH, LD_PRELOAD and DAGTAP_SPOOL. CUDA and NVTX
 * load one library each: where there is one already, -EBUSY for LAUNCH_CUDA, else it stays and a line
 * on stderr says so. */
int launch_use_tracer(const char *spool_folder, enum launch_backend backend,
		      struct dagtap_error *error);

/* Runs ARGV in a child and waits. Signals sent to us go on to the child; those of the terminal
 * reach it anyway. 0 with the code that a shell would give (128 + N for a signal), or -errno when
 * the program could not be started. */
int launch_run(char *const argv[], int *ret_exit_status, struct dagtap_error *error);

/* From now on a write beyond the limit of file size is an error here, and no signal. What
 * launch_run starts gets the signal as our caller left it. */
void launch_ignore_file_limit(void);

/* For who becomes another program: the signal is as our caller left it. */
void launch_restore_file_limit(void);

/* After launch_run: processes that the program left behind are still alive. */
bool launch_has_survivors(void);

#endif
