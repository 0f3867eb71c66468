/* The lines of a work log of the software GPU (docs/softgpu.md), read whole for a test. */
#ifndef DAGTAP_TESTS_SOFTGPU_WORK_LOG_LINES_H
#define DAGTAP_TESTS_SOFTGPU_WORK_LOG_LINES_H

#include <stddef.h>
#include <stdint.h>

#define MAX_LINES 20000
#define COLUMNS	  18

enum column {
	TYPE,
	AGENT,
	QUEUE,
	INDEX,
	KERNEL,
	GRID,
	WORKGROUP = GRID + 3,
	KERNARG = WORKGROUP + 3,
	SIGNAL,
	BEGIN,
	END,
	BYTES,
	SOURCE,
	DESTINATION,
};

struct work_log {
	char *text;
	size_t size; /* of the file */
	size_t used; /* bytes of whole lines */
	int count;   /* lines of packets and copies */
	char *process;
	char *line[MAX_LINES][COLUMNS];
	char *total; /* NULL: the process did not reach its end */
};

/* The log that was read last. */
extern struct work_log work_log;

/* Reads the log at PATH into work_log. Asserts that it is well-formed. */
void work_log_read(const char *path);

/* The number in a column. */
uint64_t work_log_number(int line, int column);

/* Asserts what a column holds. */
void work_log_expect(int line, int column, const char *text);

/* The number of lines of this type. */
int work_log_count(const char *type);

/* The number after "NAME=" in the line of totals. */
uint64_t work_log_total(const char *name);

#endif
