/* Does for builds of HIP and RCCL without rocprofiler-register, such as Debian's, what that library
 * does in AMD's: hands their dispatch tables to the injected library.
 *
 * A table is recognised by its content: its first word is its size, and all others are pointers
 * into the code of its library, or NULL. It is searched in the library's writable data. A library
 * with no such table, or with more than one, is left alone. */
#ifndef DAGTAP_SDK_HAND_OVER_H
#define DAGTAP_SDK_HAND_OVER_H

#include <stdint.h>

#define SET_API_TABLE "rocprofiler_set_api_table"

/* The type of that function. */
typedef int set_api_table(const char *name, uint64_t lib_version, uint64_t lib_instance,
			  void **tables, uint64_t table_count);

/* Hands the tables of the libraries that are loaded to TAKE, each library's once. Calls a function
 * of each library that initialises nothing, with which it makes its table, and may register it. The
 * caller holds no lock. Any thread. */
void hand_over_tables(set_api_table *take);

/* The calling thread is inside of the first call of the library that registers table NAME, which
 * this thread does not search until NAME is NULL or another table's. Returns the name before. */
const char *hand_over_registering(const char *name);

/* Somebody takes the table of this name, which has come by rocprofiler-register: it is not searched
 * any more. Takes no lock. */
void hand_over_leave(const char *name);

#endif
