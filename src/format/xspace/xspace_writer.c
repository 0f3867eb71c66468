/* The XSpace writer, for XProf and TensorBoard (docs/format/xspace.md). This file writes the
 * planes in order, and divides a trace that is too long for one file. */
#include "format/xspace/xspace_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of time steps at whose borders a trace can be divided. */
#define CUT_STEPS 65536

/* The most parts. The limit also ends the search if no division helps. */
#define PARTS_MAX 4096

static bool has_rows(const struct xspace_writer *writer, uint32_t gpu)
{
	const struct timeline *timeline = &writer->timeline;

	for (uint32_t i = 0; i < timeline->slots; i++) {
		if (rows_list_count(&timeline->activities.lists[timeline_place(timeline, gpu, i)]))
			return true;
	}
	return false;
}

/* What describes the recording as a whole. XLA adds such planes to a plugin's itself. */
static int put_surroundings(struct xspace_writer *writer)
{
	int err = xspace_put_recording(writer);

	if (!err)
		err = xspace_put_environment(writer);
	if (!err && writer->trace->xspace_planes_bytes)
		xspace_out_put(&writer->out, writer->trace->xspace_planes,
			       writer->trace->xspace_planes_bytes);
	if (!err && writer->with)
		xspace_with_put_planes(writer->with, &writer->out);
	if (!err)
		xspace_put_warnings(writer);
	return err;
}

static int put_planes(struct xspace_writer *writer)
{
	int err = 0;

	for (uint32_t gpu = 0; gpu < writer->timeline.gpus.count && !err; gpu++)
		err = xspace_put_device(writer, gpu);
	if (!err && has_rows(writer, writer->timeline.gpus.host))
		err = xspace_put_device(writer, writer->timeline.gpus.host);
	if (!err)
		err = xspace_put_host(writer);
	if (!err)
		err = xspace_put_scope_tree(writer);
	return err || writer->pjrt ? err : put_surroundings(writer);
}

struct part {
	const struct trace *trace;
	const struct format_options *pjrt; /* as xspace_writer.pjrt */
	struct xspace_with *with;
	struct xspace_window window;
	uint64_t bytes_max;
};

/* Writes the part to OUT, or only counts its bytes if OUT is NULL. Returns 0 or negative errno.
 * RET_BYTES is set if the rows could be distributed. */
static int put_part(const struct part *part, FILE *out, uint64_t *ret_bytes)
{
	struct xspace_writer writer = {
		.window = part->window, .pjrt = part->pjrt, .with = part->with};
	int err = xspace_out_init(&writer.out, out, part->bytes_max);

	if (err)
		return err;
	err = xspace_deal(&writer, part->trace);
	if (!err) {
		if (writer.with)
			err = xspace_with_join(writer.with, &writer);
		if (!err)
			err = put_planes(&writer);
		if (!err)
			err = xspace_out_finish(&writer.out);
		*ret_bytes = writer.out.flushed;
		xspace_deal_release(&writer);
	}
	xspace_out_release(&writer.out);
	return err;
}

/* The number of rows by time step; the time is the one that decides a row's part. */
struct histogram {
	int64_t from_ns;
	int64_t step_ns;
	uint64_t total;
	uint64_t counts[CUT_STEPS];
};

static void count_row(struct histogram *histogram, int64_t ns, uint64_t rows)
{
	uint64_t step =
		((uint64_t)ns - (uint64_t)histogram->from_ns) / (uint64_t)histogram->step_ns;

	histogram->counts[step < CUT_STEPS ? step : CUT_STEPS - 1] += rows;
	histogram->total += rows;
}

static void count_rows(struct histogram *histogram, const struct trace *trace)
{
	int64_t from_ns = INT64_MAX;
	int64_t to_ns = INT64_MIN;

	for (uint32_t i = 0; i < trace->calls_count; i++) {
		from_ns = trace->calls[i].begin_ns < from_ns ? trace->calls[i].begin_ns : from_ns;
		to_ns = trace->calls[i].begin_ns > to_ns ? trace->calls[i].begin_ns : to_ns;
	}
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		from_ns = trace->scopes[i].begin_ns < from_ns ? trace->scopes[i].begin_ns : from_ns;
		to_ns = trace->scopes[i].begin_ns > to_ns ? trace->scopes[i].begin_ns : to_ns;
	}
	if (from_ns > to_ns)
		from_ns = to_ns = 0;
	histogram->from_ns = from_ns;
	histogram->step_ns = (int64_t)(((uint64_t)to_ns - (uint64_t)from_ns) / CUT_STEPS) + 1;
	for (uint32_t i = 0; i < trace->calls_count; i++)
		count_row(histogram, trace->calls[i].begin_ns,
			  1 + 3 * (uint64_t)trace->calls[i].activity_count);
	for (uint32_t i = 0; i < trace->scopes_count; i++)
		count_row(histogram, trace->scopes[i].begin_ns, 1);
}

/* The step at which part NUMBER of COUNT begins, so that the parts have about equally many rows. */
static uint32_t cut_at(const struct histogram *histogram, uint32_t number, uint32_t count)
{
	uint64_t wanted = histogram->total / count * (number - 1);
	uint64_t seen = 0;
	uint32_t step = 0;

	if (number > count)
		return CUT_STEPS;
	for (; step < CUT_STEPS && seen < wanted; step++)
		seen += histogram->counts[step];
	return step;
}

static int64_t step_begin_ns(const struct histogram *histogram, uint32_t step)
{
	if (step == 0)
		return INT64_MIN;
	return step == CUT_STEPS ? INT64_MAX
				 : histogram->from_ns + (int64_t)step * histogram->step_ns;
}

static struct xspace_window window_of(const struct histogram *histogram, uint32_t number,
				      uint32_t count)
{
	return (struct xspace_window){
		.from_ns = step_begin_ns(histogram, cut_at(histogram, number, count)),
		.to_ns = step_begin_ns(histogram, cut_at(histogram, number + 1, count)),
		.number = number,
		.count = count,
	};
}

static bool has_one_step(const struct histogram *histogram, uint32_t number, uint32_t count)
{
	uint32_t end = cut_at(histogram, number + 1, count);
	unsigned steps = 0;

	for (uint32_t i = cut_at(histogram, number, count); i < end; i++)
		steps += histogram->counts[i] > 0;
	return steps <= 1;
}

/* Tries out whether all of COUNT parts fit, without a file. Returns 1 if they do, 0 if not, -EFBIG
 * if more parts would not help, or negative errno. */
static int do_parts_fit(struct part *part, const struct histogram *histogram, uint32_t count)
{
	for (uint32_t number = 1; number <= count; number++) {
		uint64_t bytes;
		int err;

		part->window = window_of(histogram, number, count);
		err = put_part(part, NULL, &bytes);
		if (err == -EFBIG && !has_one_step(histogram, number, count))
			return 0;
		if (err)
			return err;
	}
	return 1;
}

/* The smallest number of parts that fit, or negative errno. */
static int64_t count_parts(struct part *part, const struct histogram *histogram)
{
	struct part whole = *part;
	uint64_t bytes;
	int fit;

	whole.bytes_max = UINT64_MAX;
	whole.window = (struct xspace_window){INT64_MIN, INT64_MAX, 1, 1};
	fit = put_part(&whole, NULL, &bytes);
	if (fit != 0)
		return fit;
	for (uint64_t count = bytes / part->bytes_max + 1; count <= PARTS_MAX; count++) {
		fit = do_parts_fit(part, histogram, (uint32_t)count);
		if (fit != 0)
			return fit < 0 ? fit : (int64_t)count;
	}
	return -EFBIG;
}

static int put_parts(struct part *part, FILE *out, const struct format_options *options)
{
	struct histogram *histogram = calloc(1, sizeof(*histogram));
	int64_t count;
	int err = 0;

	if (!histogram)
		return -ENOMEM;
	count_rows(histogram, part->trace);
	count = count_parts(part, histogram);
	if (count < 0)
		err = (int)count;
	for (uint32_t number = 1; number <= count && !err; number++) {
		uint64_t bytes;

		if (number > 1)
			err = options->open_part(options->context, number, &out);
		part->window = window_of(histogram, number, (uint32_t)count);
		if (!err)
			err = put_part(part, out, &bytes);
	}
	free(histogram);
	return err;
}

/* Removes from the file what was written since START. */
static int go_back(FILE *out, off_t start)
{
	int fd = fileno(out);

	errno = 0;
	if (fseeko(out, start, SEEK_SET) != 0 || (fd >= 0 && ftruncate(fd, start) != 0))
		return errno ? -errno : -EIO;
	return 0;
}

/* One file is enough for most traces, so it is tried first. A file that cannot seek (start < 0)
 * then needs no cleanup: the attempt was made in a temporary file and never reached it. */
int xspace_write(const struct trace *trace, FILE *out, const struct format_options *options,
		 uint64_t bytes_max)
{
	struct part part = {.trace = trace, .bytes_max = bytes_max};
	off_t start = ftello(out);
	uint64_t bytes;
	int err;

	if (options && options->compat && strcmp(options->compat, "pjrt") == 0)
		part.pjrt = options;
	part.window = (struct xspace_window){INT64_MIN, INT64_MAX, 1, 1};
	err = put_part(&part, out, &bytes);
	if (err != -EFBIG || !options || !options->open_part)
		return err;
	err = start < 0 ? 0 : go_back(out, start);
	return err ? err : put_parts(&part, out, options);
}

/* A trace with a profile goes into one file: the profile has to be read whole. */
static int write_with(const struct trace *trace, FILE *out, const struct format_options *options,
		      struct dagtap_error *error)
{
	struct part part = {.trace = trace, .bytes_max = XSPACE_BYTES_MAX};
	uint64_t bytes;
	int err = xspace_with_open(options->with, &part.with, error);

	if (err < 0)
		return err;
	part.window = (struct xspace_window){INT64_MIN, INT64_MAX, 1, 1};
	err = xspace_with_fits(part.with, trace, error);
	if (err == 0) {
		err = put_part(&part, out, &bytes);
		if (err < 0)
			dagtap_error_set(error, err, "xspace: %s",
					 err == -EFBIG ? "longer than 2 GiB with the profile"
						       : strerror(-err));
	}
	xspace_with_close(part.with);
	return err;
}

static int write_trace(const struct trace *trace, FILE *out, const struct format_options *options,
		       struct dagtap_error *error)
{
	int code;

	if (options && options->with)
		return write_with(trace, out, options, error);
	code = xspace_write(trace, out, options, XSPACE_BYTES_MAX);
	if (code == -EFBIG)
		return dagtap_error_set(error, code,
					"xspace: longer than the 2 GiB that one file can have; "
					"with -o FILE it goes into several");
	return code < 0 ? dagtap_error_set(error, code, "xspace: %s", strerror(-code)) : 0;
}

static const struct format_table compats[] = {
	{"pjrt", "XLA's profiler, which takes planes from a plugin: lines in wall-clock time"},
	{0},
};

const struct format format_xspace = {
	.name = "xspace",
	.extension = ".xplane.pb",
	.help = "for XProf and TensorBoard (docs/format/xspace.md)",
	.compats = compats,
	.has_with = true,
	.is_brief = true,
	.without_waits = true,
	.write = write_trace,
};
