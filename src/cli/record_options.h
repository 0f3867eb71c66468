/* The options of dagtap record. Threading: the main thread. */
#ifndef DAGTAP_CLI_RECORD_OPTIONS_H
#define DAGTAP_CLI_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command_options.h"

struct record_options {
	const char *output;
	const char *softgpu; /* its configuration; NULL: no software GPU */
	const char *ready;   /* the value of --ready, or NULL */
	const char *ring;    /* the value of --ring; NULL: no ring */
	uint64_t ring_bytes; /* size of each process's ring */
	const char *hsa_mode;
	const char *calls; /* the value of --calls, or NULL */
	const char *scope; /* the value of --capture-range, or NULL */
	const char *delay; /* the values of --delay and --duration, or NULL */
	const char *duration;
	uint64_t skip, count; /* of --skip and --count; 0: not given */
	uint32_t backend;     /* enum launch_backend */
	bool waits;
	bool has_control;
	bool has_dynolog;
	const char *iterations; /* the value of --iterations, or NULL */
	bool has_stats;		/* keep statistics, not rows */
	uint64_t interval_ns;	/* of --stats-interval; 0: not given */
	const char *outlier;	/* the value of --outlier, or NULL */
	double outlier_factor;	/* 0: no activity is an outlier */
	const char *metrics;	/* the value of --metrics, or NULL */
	bool sdk;		/* preload librocprofiler-sdk.so.1 */
	bool force;
	bool keep_spool;
	bool quiet;
	char **program;
};

/* The table, which a row without a name ends. */
extern const struct cli_option options_of_record[];

/* Sets the environment variables that hand the options to the injected library. Returns CLI_OK, or
 * another status after a message. */
int record_options_export(const struct record_options *options);

#endif
