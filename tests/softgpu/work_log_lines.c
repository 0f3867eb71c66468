/* Reads work logs: see work_log_lines.h. */
#include "work_log_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct work_log work_log;

static void read_file(const char *path)
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	work_log.size = (size_t)ftell(file);
	rewind(file);
	free(work_log.text);
	work_log.text = calloc(1, work_log.size + 1);
	assert_int_equal(fread(work_log.text, 1, work_log.size, file), work_log.size);
	fclose(file);
}

static void split(char *line, char *ret_columns[COLUMNS])
{
	for (int i = 0; i < COLUMNS; i++) {
		ret_columns[i] = strsep(&line, "\t");
		assert_non_null(ret_columns[i]);
	}
	assert_null(line);
}

void work_log_read(const char *path)
{
	char *line, *rest;

	read_file(path);
	rest = work_log.text;
	work_log.count = 0;
	work_log.total = NULL;
	line = strsep(&rest, "\n");
	assert_int_equal(strncmp(line, "type\tagent\tqueue\tindex\t", 23), 0);
	work_log.process = strsep(&rest, "\n");
	while (strchr(rest, '\n')) {
		assert_null(work_log.total);
		line = strsep(&rest, "\n");
		if (*line == '#') {
			work_log.total = line;
			continue;
		}
		assert_true(work_log.count < MAX_LINES);
		split(line, work_log.line[work_log.count++]);
	}
	assert_int_equal(*rest, '\0');
	work_log.used = (size_t)(rest - work_log.text);
}

uint64_t work_log_number(int line, int column)
{
	return strtoull(work_log.line[line][column], NULL, 0);
}

void work_log_expect(int line, int column, const char *text)
{
	assert_string_equal(work_log.line[line][column], text);
}

int work_log_count(const char *type)
{
	int count = 0;

	for (int i = 0; i < work_log.count; i++)
		count += !strcmp(work_log.line[i][TYPE], type);
	return count;
}

uint64_t work_log_total(const char *name)
{
	char wanted[64];
	const char *at;

	snprintf(wanted, sizeof(wanted), "\t%s=", name);
	at = strstr(work_log.total, wanted);
	assert_non_null(at);
	return strtoull(at + strlen(wanted), NULL, 10);
}
