/* Writes the sample trace to standard output, or to a folder, for tests with other projects'
 * readers. */
#include <stdio.h>

#include "format/folder.h"
#include "format/format.h"
#include "sample.h"

int main(int argc, char **argv)
{
	const struct format *format = argc > 1 ? format_find(argv[1]) : NULL;

	if (!format || (format->write_folder && argc < 3)) {
		fprintf(stderr, "usage: write_sample FORMAT [FOLDER]\n");
		return 2;
	}
	if (format->write_folder)
		return folder_write(format, sample_trace(), argv[2], false, NULL, NULL) < 0;
	return format->write(sample_trace(), stdout, NULL, NULL) < 0 || fflush(stdout) != 0;
}
