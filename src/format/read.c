/* Opens a trace of any format: maps the file and gives it to the first reader that accepts it. */
#include "format/read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/kineto/kineto_reader.h"
#include "format/rocpd/rocpd_reader.h"
#include "format/xspace/xspace_reader.h"
#include "trace/statistics_file.h"

static const struct read_format formats[] = {
	{
		.name = "xspace",
		.extension = ".xplane.pb",
		.help = "a profile of XLA (JAX, TensorFlow, PyTorch/XLA)",
		.is_likely = xspace_is_likely,
		.open = xspace_open,
	},
	{
		.name = "kineto",
		.extension = ".json",
		.help = "a trace of PyTorch's profiler (Kineto); also .json.gz",
		.is_likely = kineto_is_likely,
		.open = kineto_open,
	},
	{
		.name = "rocpd",
		.extension = ".db",
		.help = "a database of AMD's rocprofv3 or rocprofiler-systems (rocpd 3)",
		.is_likely = rocpd_is_likely,
		.open = rocpd_open,
	},
};

const struct read_format *read_format_at(size_t index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? &formats[index] : NULL;
}

static bool has_extension(const char *path, const char *extension)
{
	size_t path_chars = strlen(path), chars = strlen(extension);

	return path_chars > chars && !strcmp(path + path_chars - chars, extension);
}

static const struct read_format *find_format(const struct read_file *file)
{
	const struct read_format *format;

	for (size_t i = 0; (format = read_format_at(i)); i++) {
		if (has_extension(file->name, format->extension) || format->is_likely(file))
			return format;
	}
	return NULL;
}

/* O_NONBLOCK: opening a FIFO must not block. */
struct read_file read_map(const char *path)
{
	struct read_file file = {.name = path};
	struct stat status;
	void *bytes = MAP_FAILED;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return file;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes != MAP_FAILED) {
		madvise(bytes, (size_t)status.st_size, MADV_SEQUENTIAL);
		file.bytes = bytes;
		file.size = (size_t)status.st_size;
	}
	return file;
}

void read_unmap(const struct read_file *file)
{
	if (file->bytes)
		munmap((void *)file->bytes, file->size);
}

/* What cannot be mapped goes to trace_open, which reports the cause. */
int read_open(const char *path, const struct trace_options *options, struct trace **ret_trace,
	      struct dagtap_error *error)
{
	struct read_file file = read_map(path);
	const struct read_format *format = file.bytes ? find_format(&file) : NULL;
	int err = file.bytes ? statistics_file_refuse(path, file.bytes, file.size, error) : 0;
	bool is_refused = err < 0;

	if (format && !is_refused)
		err = format->open(&file, options, ret_trace, error);
	read_unmap(&file);
	return format || is_refused ? err : trace_open(path, options, ret_trace, error);
}
