/* Writes the sample trace to standard output, for tests with other projects' readers. */
#include <stdio.h>

#include "format/format.h"
#include "sample.h"

int main(int argc, char **argv)
{
	const struct format *format = argc == 2 ? format_find(argv[1]) : NULL;

	if (!format) {
		fprintf(stderr, "usage: write_sample FORMAT\n");
		return 2;
	}
	return format->write(sample_trace(), stdout, NULL, NULL) < 0 || fflush(stdout) != 0;
}
