/* Amounts as people write them: 64M, 30s. */
#ifndef DAGTAP_BASE_AMOUNT_H
#define DAGTAP_BASE_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes at TEXT, in decimal digits, with K, M or G (of 1024, either case) or without. Returns where they end, at
 * a comma or the text's end; NULL when there are none, or too many for 64 bits. */
const char *amount_bytes(const char *text, uint64_t *ret_bytes);

/* A size (64M), an age (30s), or both (64M,30s), none of them 0; what is not there is. */
bool amount_size_and_age(const char *text, uint64_t *ret_bytes, uint64_t *ret_ns);

#endif
