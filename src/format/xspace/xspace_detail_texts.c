/* Texts that describe activities. XProf splits them at spaces and colons. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "format/xspace/xspace_writer.h"

enum xspace_word xspace_word_of(const struct trace_work *work)
{
	static const enum xspace_word copies[] = {
		[TRACE_COPY_UNKNOWN] = XSPACE_WORD_MEMCPY_OTHER,
		[TRACE_H2H] = XSPACE_WORD_MEMCPY_OTHER,
		[TRACE_H2D] = XSPACE_WORD_MEMCPY_H2D,
		[TRACE_D2H] = XSPACE_WORD_MEMCPY_D2H,
		[TRACE_D2D] = XSPACE_WORD_MEMCPY_D2D,
		[TRACE_P2P] = XSPACE_WORD_MEMCPY_P2P,
	};

	if (work->kind == TRACE_KERNEL)
		return XSPACE_WORD_COMPUTE;
	return work->kind == TRACE_MEMSET ? XSPACE_WORD_MEMSET : copies[work->direction];
}

const char *xspace_word_text(enum xspace_word word)
{
	static const char *const texts[] = {
#define X(name, text) [XSPACE_WORD_##name] = (text),
		XSPACE_WORDS(X)
#undef X
	};

	return texts[word];
}

static uint64_t divide_up(uint64_t value, uint32_t by)
{
	return by ? value / by + (value % by != 0) : 0;
}

static bool has_partial_groups(const struct trace_work *work)
{
	for (unsigned i = 0; i < 3; i++) {
		if (work->workgroup[i] == 0 || work->grid[i] % work->workgroup[i] != 0)
			return true;
	}
	return false;
}

struct text {
	char *at;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vsnprintf(text->at, text->size, format, arguments);
	va_end(arguments);
	if (count < 0 || (size_t)count >= text->size)
		count = (int)text->size - 1;
	text->at += count;
	text->size -= (size_t)count;
}

void xspace_kernel_details(const struct trace_work *work, const double *occupancy, char *text,
			   size_t size)
{
	struct text out = {text, size};
	uint64_t blocks[3];

	for (unsigned i = 0; i < 3; i++)
		blocks[i] = divide_up(work->grid[i], work->workgroup[i]);
	if (work->registers)
		add(&out, "regs:%" PRIu32 " ", work->registers);
	add(&out,
	    "static_shared:%" PRIu32 " dynamic_shared:0 grid:%" PRIu64 ",%" PRIu64 ",%" PRIu64,
	    work->group_bytes, blocks[0], blocks[1], blocks[2]);
	add(&out, " block:%" PRIu32 ",%" PRIu32 ",%" PRIu32, work->workgroup[0], work->workgroup[1],
	    work->workgroup[2]);
	if (occupancy)
		add(&out, " occ_pct:%g", 100 * *occupancy);
	if (work->private_bytes)
		add(&out, " private_mem:%" PRIu32, work->private_bytes);
	if (work->scalar_registers)
		add(&out, " scalar_regs:%" PRIu32, work->scalar_registers);
	if (has_partial_groups(work))
		add(&out, " work_items:%" PRIu64 ",%" PRIu64 ",%" PRIu64, work->grid[0],
		    work->grid[1], work->grid[2]);
}

static const char *side(enum trace_copy_direction direction, bool source)
{
	if (direction == TRACE_COPY_UNKNOWN)
		return "unknown";
	if (direction == TRACE_H2H || (source && direction == TRACE_H2D) ||
	    (!source && direction == TRACE_D2H))
		return "host";
	return "device";
}

void xspace_copy_details(const struct xspace_writer *writer, const struct trace_work *work,
			 char *text, size_t size)
{
	struct text out = {text, size};
	uint32_t src = gpus_find(&writer->timeline.gpus, work->src_agent);
	uint32_t dst = gpus_find(&writer->timeline.gpus, work->dst_agent);

	add(&out, "kind_src:%s kind_dst:%s size:%" PRIu64, side(work->direction, true),
	    side(work->direction, false), work->bytes);
	if (src < writer->timeline.gpus.count)
		add(&out, " src:%" PRIu32, src);
	if (dst < writer->timeline.gpus.count)
		add(&out, " dest:%" PRIu32, dst);
}

void xspace_memset_details(const struct trace_work *work, char *text, size_t size)
{
	struct text out = {text, size};

	add(&out, "kind:device num_bytes:%" PRIu64, work->bytes);
}
