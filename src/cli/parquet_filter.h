/* Parquet for `dagtap export`: a Python program with the package dagtap and pyarrow, which reads an
 * Arrow IPC stream and writes Parquet. dagtap itself needs neither.
 *
 * Threading: the main thread; SIGPIPE is ignored from start to finish, for the whole process. */
#ifndef DAGTAP_CLI_PARQUET_FILTER_H
#define DAGTAP_CLI_PARQUET_FILTER_H

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error_text.h"

struct parquet_filter {
	FILE *in; /* takes the Arrow stream */
	pid_t pid;
	struct sigaction pipe_before;
};

/* Starts the program that DAGTAP_PYTHON names, or python3. It writes to the file of OUT, which the
 * caller does not use until parquet_filter_finish. Returns 0, or a negative errno with a line in
 * ERROR; then there is nothing to finish. */
int parquet_filter_start(FILE *out, struct parquet_filter *ret_filter, struct dagtap_error *error);

/* Ends the stream and waits for the program. Returns 0; or a negative errno with a line in ERROR if
 * the program has failed, or lacks a package: then the line says how to get it. */
int parquet_filter_finish(struct parquet_filter *filter, struct dagtap_error *error);

#endif
