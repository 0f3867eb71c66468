/* Prepares the environment of a program, runs it, and waits for it. The libraries that are put
 * into the program lie beside this executable. Threading: the main thread. */
#ifndef DAGTAP_CLI_LAUNCHER_H
#define DAGTAP_CLI_LAUNCHER_H

#include <stdbool.h>

#include "base/error_text.h"

/* Finds a library of the installation. NAME is relative to ../lib/dagtap of the running
 * executable. The caller frees *RET_PATH. Returns 0, or a negative errno with ERROR filled: the
 * file does not exist, or its path has a space or a colon and cannot be preloaded (-ENOTSUP). */
int launch_find(const char *name, char **ret_path, struct dagtap_error *error);

/* Appends PATH to the value of the environment variable, after SEPARATOR (LD_PRELOAD,
 * HSA_TOOLS_LIB). Returns 0 or a negative errno. */
int launch_append(const char *variable, const char *path, char separator);

/* Preloads the software GPU and sets DAGTAP_SOFTGPU to CONFIG; NULL leaves the variable as it is.
 * Returns 0, or a negative errno with ERROR filled; -EINVAL if the software GPU refuses the
 * configuration. */
int launch_use_softgpu(const char *config, struct dagtap_error *error);

/* Preloads the profiling interface for ROCm, librocprofiler-sdk.so.1: the loader then takes it for
 * every library that needs one of that name. Call after launch_use_tracer. Returns 0, or a negative
 * errno with ERROR filled. */
int launch_use_sdk(struct dagtap_error *error);

/* Prints on stdout the keys that a configuration may have, as the software GPU lists them.
 * Returns 0, or a negative errno with ERROR filled. */
int launch_print_softgpu_keys(struct dagtap_error *error);

/* Which vendor's GPUs are traced. */
enum launch_backend { LAUNCH_AUTO, LAUNCH_HSA, LAUNCH_CUDA };

/* Sets LD_PRELOAD and DAGTAP_SPOOL; HSA_TOOLS_LIB and HSA_TOOLS_ROCPROFILER_V1_TOOLS unless
 * BACKEND is LAUNCH_CUDA; CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH unless it is
 * LAUNCH_HSA. CUDA and NVTX load one injected library each: if the variable is set already, the
 * function fails with -EBUSY for LAUNCH_CUDA; otherwise it leaves the variable and prints a line
 * on stderr. Returns 0, or a negative errno with ERROR filled. */
int launch_use_tracer(const char *spool_folder, enum launch_backend backend,
		      struct dagtap_error *error);

/* Finds the file that launch_run runs for NAME, which has a slash or is searched in PATH. The
 * caller frees *RET_PATH. Returns 0, or a negative errno with ERROR filled as launch_run fills it:
 * there is no such file, or it may not be run. */
int launch_find_program(const char *name, char **ret_path, struct dagtap_error *error);

/* Runs ARGV in a child process and waits for its end. Forwards signals that other processes send
 * to dagtap; those of the terminal reach the child anyway. Makes dagtap the reaper of processes
 * whose parent ends. Returns 0 with the exit status that a shell would give (128 + N for signal
 * N), or a negative errno with ERROR filled if the program could not be started. */
int launch_run(char *const argv[], int *ret_exit_status, struct dagtap_error *error);

/* Ignores SIGXFSZ, so that a write beyond the limit of file size fails with EFBIG. Programs that
 * launch_run starts get the caller's disposition of the signal. */
void launch_ignore_file_limit(void);

/* Restores the caller's disposition of SIGXFSZ. Call it before exec replaces dagtap itself. */
void launch_restore_file_limit(void);

/* Call after launch_run. Whether processes that the program left behind are still alive. */
bool launch_has_survivors(void);

#endif
