/* Figures for people: "40,000", "1.2 MiB", "3.45 ms". Each call writes into the caller's buffer and
 * returns it. */
#ifndef DAGTAP_CLI_HUMAN_H
#define DAGTAP_CLI_HUMAN_H

#include <stdint.h>

#define HUMAN_CHARS 32

const char *human_count(uint64_t count, char *buffer);
const char *human_bytes(uint64_t bytes, char *buffer);
const char *human_ns(double ns, char *buffer);

#endif
