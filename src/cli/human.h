/* Formats values for people ("40,000", "1.2 MiB", "3.45 ms"), and makes texts from files safe to
 * print. */
#ifndef DAGTAP_CLI_HUMAN_H
#define DAGTAP_CLI_HUMAN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define HUMAN_CHARS 32

/* Each writes into BUFFER, which must have HUMAN_CHARS bytes, and returns it. */
const char *human_count(uint64_t count, char *buffer);
const char *human_bytes(uint64_t bytes, char *buffer);
const char *human_ns(double ns, char *buffer);

/* The plural ending for COUNT things: "" for one, else "s". */
const char *human_ending(uint64_t count);

/* Replaces in place, by '?', control characters, which a terminal would execute, and bytes that
 * are not part of a UTF-8 character. */
void human_make_plain(char *text);

/* Prints a line on stdout, made plain. For lines with texts from a file. Prints nothing if memory
 * is exhausted. */
void human_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same to OUT, with LABEL before the line. Returns false if memory is exhausted; then nothing
 * was written. */
bool human_print_to(FILE *out, const char *label, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

#endif
