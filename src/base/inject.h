/* What libdagtap and the injected library know of each other: one table of functions.
 *
 * The injected library exports it as `dagtap_inject_v1`; libdagtap looks for that name when it
 * is loaded. Where the injected library came later and is not in the global scope, it looks
 * for libdagtap and calls `dagtap_attach` with the table. Tables are static and the injected
 * library is never unloaded. New members go at the end; BYTES says which are there. */
#ifndef DAGTAP_BASE_INJECT_H
#define DAGTAP_BASE_INJECT_H

#include <stddef.h>
#include <stdint.h>

#define INJECT_SYMBOL	 "dagtap_inject_v1"
#define ATTACH_SYMBOL	 "dagtap_attach"
#define ANNOTATE_LIBRARY "libdagtap.so.0"

struct dagtap_attribute;

struct inject_table {
	uint64_t bytes;
	uint64_t (*scope_push)(const char *text);
	void (*scope_pop)(void);
	int (*start)(void);
	int (*is_recording)(void);
	void (*stop)(void);
	void (*note)(const char *text);
	uint64_t (*scope_push_with)(const char *text, const struct dagtap_attribute *attributes,
				    size_t count);
	uint64_t (*step_begin)(const char *name, int64_t number);
	void (*step_end)(void);
	size_t (*scope_path)(uint64_t *ret_ids, size_t room);
	void (*scope_attach)(const uint64_t *ids, size_t count);
	void (*scope_detach)(void);
};

typedef void attach_function(const struct inject_table *table);

#endif
