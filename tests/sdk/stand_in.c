/* Stands for AMD's librocprofiler-sdk.so.1 beside dagtap's: accepts every tool and calls none. */
#include <stdint.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int rocprofiler_force_configure(void *configure);
EXPORT int rocprofiler_set_api_table(const char *name, uint64_t lib_version, uint64_t lib_instance,
				     void **tables, uint64_t table_count);

int rocprofiler_force_configure(void *configure)
{
	return 0;
}

int rocprofiler_set_api_table(const char *name, uint64_t lib_version, uint64_t lib_instance,
			      void **tables, uint64_t table_count)
{
	fprintf(stderr, "stand-in: %s\n", name);
	return 0;
}
