/* The tokens of a JSON text, by yajl: a JSON reader in C, to hold wire/json_reader.h against. */
#ifndef DAGTAP_BENCH_JSON_C_FLOOR_H
#define DAGTAP_BENCH_JSON_C_FLOOR_H

#include <stddef.h>

/* Parses BYTES in pieces of PIECE_BYTES with libyajl.so.2 and drops the tokens; numbers are passed
 * on as text, as json_read does. Returns 0; -ENOENT: the library is not installed; -EBADMSG: it
 * does not accept the text. One thread. */
int json_c_tokens(const char *bytes, size_t size, size_t piece_bytes);

#endif
