/* Fuzzes the XSpace reader and that of joined profiles, and asks all questions of the models. */
#include <stdint.h>
#include <stdlib.h>

#include "ask_everything.h"
#include "format/xspace/xspace_reader.h"
#include "format/xspace/xspace_with.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct read_file file = {"fuzz", data, size};
	struct dagtap_error error;
	struct xspace_with *with;
	struct trace *trace;

	(void)xspace_is_likely(&file);
	if (xspace_with_open(&file, &with, &error) == 0)
		xspace_with_close(with);
	if (xspace_open(&file, NULL, &trace, &error) == 0) {
		ask_everything(trace);
		trace_close(trace);
	}
	return 0;
}
