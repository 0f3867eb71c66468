/* What people read: "40,000", "1.2 MiB", "3.45 ms", and texts from a file. */
#ifndef DAGTAP_CLI_HUMAN_H
#define DAGTAP_CLI_HUMAN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define HUMAN_CHARS 32

/* Each writes into the caller's buffer and returns it. */
const char *human_count(uint64_t count, char *buffer);
const char *human_bytes(uint64_t bytes, char *buffer);
const char *human_ns(double ns, char *buffer);

/* "s", or nothing after one. */
const char *human_ending(uint64_t count);

/* What a terminal would obey instead of showing it, control characters, becomes '?', in place; so
 * does each byte that is no part of a UTF-8 character. */
void human_make_plain(char *text);

/* A line of texts from a file, made plain. */
void human_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same to OUT, behind a label. False: no memory, and nothing was written. */
bool human_print_to(FILE *out, const char *label, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

#endif
