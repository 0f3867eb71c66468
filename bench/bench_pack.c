/*
 * Measures what packing a spool into a .dagtap and reading it back costs, and the size of the
 * result; the floors are a copy of the same bytes and zstd over them. Runs in a process of its own
 * on one core with the spool in the page cache. Rates are in megabytes of the spool.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "bench.h"
#include "reference_floors.h"
#include "reference_input.h"
#include "reference_spool.h"
#include "trace/pack/pack.h"

#define RUNS	    5
#define STEPS	    10 /* a tenth of the reference run */
#define PIECE_BYTES ((size_t)1 << 20)
#define MEGABYTE    1e6

static struct reference_input input = {.steps = STEPS};

/* The measured stages. */
enum stage { CHECK, PACK, UNPACK, COPY, ZSTD_1, ZSTD_3, UNZSTD_1, STAGE_COUNT };

struct report {
	int error;
	double seconds[STAGE_COUNT];
	double spool_bytes, packed_bytes, zstd_1_bytes, zstd_3_bytes;
	double events;
	double pack_peak_mib;
};

struct bytes {
	uint8_t *bytes;
	size_t size, room;
};

static double cpu_seconds_since(struct cpu_seconds begin)
{
	struct cpu_seconds seconds = cpu_since(begin);

	return cpu_sum(&seconds);
}

static int keep(void *context, const void *bytes, size_t size)
{
	struct bytes *kept = context;

	if (kept->size + size > kept->room) {
		uint8_t *wider = realloc(kept->bytes, (kept->size + size) * 2);

		if (!wider)
			return -ENOMEM;
		kept->bytes = wider;
		kept->room = (kept->size + size) * 2;
	}
	memcpy(kept->bytes + kept->size, bytes, size);
	kept->size += size;
	return 0;
}

/* ---- packing ---- */

static int pack(const char *path, struct bytes *packed, double seconds[STAGE_COUNT])
{
	const struct pack_sink sink = {keep, NULL, packed};
	struct cpu_seconds begin = cpu_now();
	struct spool_reader *reader;
	int error;

	packed->size = 0;
	error = spool_reader_open(path, &reader, NULL);
	if (error < 0)
		return error;
	seconds[CHECK] = cpu_seconds_since(begin);
	begin = cpu_now();
	error = pack_write(reader, &sink);
	seconds[PACK] = cpu_seconds_since(begin);
	spool_reader_close(reader);
	return error;
}

static int unpack(const struct bytes *packed, struct report *report)
{
	const struct pack_section section = {"packed", 0, packed->bytes, packed->size};
	struct cpu_seconds begin = cpu_now();
	uint64_t counts[RECORD_TYPE_COUNT];
	struct pack_reader *reader;
	struct pack_batch batch;
	int result = pack_reader_open(&section, &reader, NULL);

	if (result < 0)
		return result;
	while ((result = pack_reader_next(reader, &batch)) > 0)
		continue;
	report->seconds[UNPACK] = cpu_seconds_since(begin);
	pack_reader_counts(reader, counts);
	report->events =
		(double)(counts[RECORD_DISPATCH] + counts[RECORD_COPY] + counts[RECORD_API]);
	pack_reader_close(reader);
	return result;
}

/* ---- floors ---- */

static double copy(const uint8_t *bytes, size_t size)
{
	uint8_t *piece = malloc(PIECE_BYTES);
	struct cpu_seconds begin = cpu_now();

	for (size_t at = 0; piece && at < size; at += PIECE_BYTES) {
		memcpy(piece, bytes + at, size - at < PIECE_BYTES ? size - at : PIECE_BYTES);
		__asm__ volatile("" : : "r"(piece) : "memory");
	}
	free(piece);
	return cpu_seconds_since(begin);
}

/* Compresses the spool as `zstd -LEVEL` does. */
static int zstd(const uint8_t *bytes, size_t size, int level, struct bytes *packed)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t room = ZSTD_CStreamOutSize();
	uint8_t *piece = malloc(room);
	ZSTD_inBuffer in = {bytes, size, 0};
	size_t left = 1;
	int error = context && piece ? 0 : -ENOMEM;

	packed->size = 0;
	if (!error)
		ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
	while (!error && left) {
		ZSTD_outBuffer out = {piece, room, 0};

		left = ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
		error = ZSTD_isError(left) ? -EIO : keep(packed, piece, out.pos);
	}
	ZSTD_freeCCtx(context);
	free(piece);
	return error;
}

static int unzstd(const struct bytes *packed)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	size_t room = ZSTD_DStreamOutSize();
	uint8_t *piece = malloc(room);
	ZSTD_inBuffer in = {packed->bytes, packed->size, 0};
	int error = context && piece ? 0 : -ENOMEM;

	while (!error && in.pos < in.size) {
		ZSTD_outBuffer out = {piece, room, 0};

		if (ZSTD_isError(ZSTD_decompressStream(context, &out, &in)))
			error = -EIO;
	}
	ZSTD_freeDCtx(context);
	free(piece);
	return error;
}

static int measure_floors(const uint8_t *bytes, size_t size, struct bytes *packed,
			  struct report *report)
{
	struct cpu_seconds begin;
	int error;

	report->seconds[COPY] = copy(bytes, size);
	begin = cpu_now();
	error = zstd(bytes, size, 3, packed);
	report->seconds[ZSTD_3] = cpu_seconds_since(begin);
	report->zstd_3_bytes = (double)packed->size;
	if (error)
		return error;
	begin = cpu_now();
	error = zstd(bytes, size, 1, packed);
	report->seconds[ZSTD_1] = cpu_seconds_since(begin);
	report->zstd_1_bytes = (double)packed->size;
	if (error)
		return error;
	begin = cpu_now();
	error = unzstd(packed);
	report->seconds[UNZSTD_1] = cpu_seconds_since(begin);
	return error;
}

static int read_floors(const char *path, struct bytes *packed, struct report *report)
{
	struct stat status = {0};
	void *bytes = MAP_FAILED;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0 || fstat(fd, &status) < 0)
		error = -errno;
	if (!error)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE,
			     fd, 0);
	if (!error && bytes == MAP_FAILED)
		error = -errno;
	if (!error) {
		report->spool_bytes = (double)status.st_size;
		error = measure_floors(bytes, (size_t)status.st_size, packed, report);
		munmap(bytes, (size_t)status.st_size);
	}
	if (fd >= 0)
		close(fd);
	return error;
}

/* ---- one run, in a process of its own ---- */

static void measure(const void *context, void *ret_report)
{
	const char *path = context;
	struct report *report = ret_report;
	struct bytes packed = {0};
	struct rusage usage;

	report->error = pack(path, &packed, report->seconds);
	getrusage(RUSAGE_SELF, &usage);
	/*
	 * Subtracts the packed bytes: dagtap writes them to a file instead of keeping them in
	 * memory.
	 */
	report->pack_peak_mib = (double)usage.ru_maxrss / 1024 - (double)packed.room / (1 << 20);
	report->packed_bytes = (double)packed.size;
	if (!report->error)
		report->error = unpack(&packed, report);
	if (!report->error)
		report->error = read_floors(path, &packed, report);
	free(packed.bytes);
}

static double median_of(const struct report *reports, enum stage stage)
{
	double seconds[RUNS];

	for (int i = 0; i < RUNS; i++)
		seconds[i] = reports[i].seconds[stage];
	return bench_median(seconds, RUNS);
}

static void tell(const struct report *reports, struct bench_result *result)
{
	const struct report *last = &reports[RUNS - 1];
	const struct {
		const char *name, *help;
		enum stage stage;
	} rates[] = {
		{"pack", "records into blocks, one core", PACK},
		{"unpack", "opened, unpacked and checked", UNPACK},
		{"spool_check", "opening the spool: sums, and every record looked at", CHECK},
		{"copy", "floor: memcpy of the same bytes", COPY},
		{"zstd_1", "zstd -1 of the same bytes", ZSTD_1},
		{"zstd_3", "zstd -3 of the same bytes", ZSTD_3},
		{"zstd_1_back", "and back from -1", UNZSTD_1},
	};

	bench_add(result, "events", "", last->events, "dispatches, copies and calls");
	bench_add(result, "spool", "B/ev", last->spool_bytes / last->events, "");
	bench_add(result, "packed", "B/ev", last->packed_bytes / last->events, "");
	bench_add(result, "zstd_1_size", "B/ev", last->zstd_1_bytes / last->events, "");
	bench_add(result, "zstd_3_size", "B/ev", last->zstd_3_bytes / last->events, "");
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		bench_add(result, rates[i].name, "MB/s",
			  last->spool_bytes / MEGABYTE / median_of(reports, rates[i].stage),
			  rates[i].help);
	bench_add(result, "pack_peak", "MiB", last->pack_peak_mib,
		  "resident while packing, mapped files too");
}

static int measure_spool(const char *path, const char *folder, struct bench_result *ret_result)
{
	struct report reports[RUNS];
	int error =
		run_alone_times("pack and unpack", measure, path, reports, sizeof(*reports), RUNS);

	if (!error)
		tell(reports, ret_result);
	return error;
}

static int run(struct bench_result *ret_result)
{
	return reference_input_use(&input, measure_spool, ret_result);
}

static int take(int argc, char **argv)
{
	return reference_input_take(&input, argc, argv);
}

const struct bench bench_pack = {
	.name = "pack",
	.help = "packing a spool into a .dagtap, and reading it back",
	.run = run,
	.options = REFERENCE_INPUT_HELP,
	.take = take,
};
