/* Fuzzes the rocpd reader, and asks all questions of the models that it makes. */
#include <stdint.h>
#include <stdlib.h>

#include "ask_everything.h"
#include "format/rocpd/rocpd_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct read_file file = {"fuzz", data, size};
	struct dagtap_error error;
	struct trace *trace;

	(void)rocpd_is_likely(&file);
	if (rocpd_open(&file, NULL, &trace, &error) == 0) {
		ask_everything(trace);
		trace_close(trace);
	}
	return 0;
}
