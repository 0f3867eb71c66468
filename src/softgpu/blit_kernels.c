/* Host functions for ROCclr's blit kernels (blit_kernels.h), in the versions of ROCclr 5 and of
 * ROCclr 7. An argument that a version does not have is 0. */
#include "softgpu/blit_kernels.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "softgpu/blit_region.h"
#include "softgpu/device_memory.h"
#include "softgpu/image.h"
#include "softgpu/metadata.h"
#include "softgpu/processor_thread.h"
#include "softgpu/signal.h"

struct fill_args {
	uint8_t *as_u8; /* exactly one of these four is set; its type is the unit */
	uint16_t *as_u16;
	uint32_t *as_u32;
	uint64_t *as_u64;
	const void *pattern;
	uint32_t pattern_units;
	uint64_t offset_units;
	uint64_t size; /* number of patterns; in 2D the width in units */
	uint64_t height;
	uint64_t pitch_units;
	/* ROCclr 7 only: it fills from the target to END with whole patterns. */
	uint8_t *target;
	uint32_t unit_bytes;
	uint64_t begin; /* the target as a device address, as END is */
	uint64_t end;
};

struct copy_args {
	const uint8_t *source;
	uint8_t *target;
	uint64_t source_offset;
	uint64_t target_offset;
	uint64_t size;
	uint32_t unit; /* copyBuffer: bytes in the last word; copyBufferAligned: bytes of a unit */
	/* copyBuffer of ROCclr 7 only: it copies words up to END, and then the rest. */
	uint32_t word_bytes;
	uint32_t rest;	/* bytes of the rest, at the end of SIZE bytes */
	uint64_t begin; /* the target as a device address, as END is */
	uint64_t end;
};

/* Row pitch, slice pitch and start, in units. */
struct rect_side {
	uint64_t row, slice, start, unused;
};

struct rect_args {
	const uint8_t *source;
	uint8_t *target;
	struct rect_side source_rect;
	struct rect_side target_rect;
	struct {
		uint64_t width, height, depth, unit_bytes;
	} size;
};

struct stream_args {
	uint32_t *as_u32; /* NULL: the word is as_u64 */
	uint64_t *as_u64;
	uint64_t value;
	uint64_t flags;
	uint64_t mask;
};

static struct blit_region flat_region(const void *base, uint64_t unit_bytes, uint64_t start,
				      uint64_t units)
{
	return (struct blit_region){.base = base,
				    .unit_bytes = unit_bytes,
				    .start = start,
				    .width = units,
				    .height = 1,
				    .depth = 1};
}

static bool reaches_flat(const void *base, uint64_t unit_bytes, uint64_t start, uint64_t units)
{
	const struct blit_region region = flat_region(base, unit_bytes, start, units);

	return blit_reaches(&region);
}

/* Gives the target's address and returns the size of its unit. */
static size_t fill_target(const struct fill_args *args, uint8_t **ret_target)
{
	size_t unit = 1;

	*ret_target = args->as_u8;
	if (args->as_u64) {
		*ret_target = (uint8_t *)args->as_u64;
		unit = 8;
	} else if (args->as_u32) {
		*ret_target = (uint8_t *)args->as_u32;
		unit = 4;
	} else if (args->as_u16) {
		*ret_target = (uint8_t *)args->as_u16;
		unit = 2;
	}
	return unit;
}

/* The fill of ROCclr 7. The last pattern is written whole if at least one byte of it is before
 * END. */
static void fill_to_end(const struct fill_args *args)
{
	size_t pattern_bytes = (size_t)args->unit_bytes * args->pattern_units;
	uint64_t count;

	if (args->end <= args->begin || !pattern_bytes)
		return;
	count = (args->end - args->begin - 1) / pattern_bytes + 1;
	if (!reaches_flat(args->target, pattern_bytes, 0, count) ||
	    !reaches_flat(args->pattern, 1, 0, pattern_bytes))
		return;
	for (uint64_t i = 0; i < count; i++)
		memcpy(args->target + i * pattern_bytes, args->pattern, pattern_bytes);
}

static void fill(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct fill_args *args = kernarg;
	uint8_t *target;
	size_t unit = fill_target(args, &target);
	size_t pattern_bytes = unit * args->pattern_units;
	struct blit_region filled = flat_region(target, unit, args->offset_units, 0);

	if (args->target) {
		fill_to_end(args);
		return;
	}
	/* A count that overflows is out of range in any case. */
	if (__builtin_mul_overflow(args->size, args->pattern_units, &filled.width))
		filled.width = UINT64_MAX;
	if (!filled.width || !blit_reaches(&filled) ||
	    !reaches_flat(args->pattern, 1, 0, pattern_bytes))
		return;
	target += args->offset_units * unit;
	for (uint64_t i = 0; i < args->size; i++)
		memcpy(target + i * pattern_bytes, args->pattern, pattern_bytes);
}

static void fill_2d(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct fill_args *args = kernarg;
	uint8_t *target;
	size_t unit = fill_target(args, &target);
	size_t pattern_bytes = unit * args->pattern_units;
	struct blit_region filled = flat_region(target, unit, args->offset_units, args->size);

	filled.height = args->height;
	filled.row = args->pitch_units;
	/* A whole pattern is written at each unit of a row, so the last one extends beyond it. */
	if (!pattern_bytes || !args->size || !args->height)
		return;
	if (__builtin_add_overflow(args->size, args->pattern_units - 1, &filled.width))
		filled.width = UINT64_MAX;
	if (!blit_reaches(&filled) || !reaches_flat(args->pattern, 1, 0, pattern_bytes))
		return;
	target += args->offset_units * unit;
	for (uint64_t y = 0; y < args->height; y++)
		for (uint64_t x = 0; x < args->size; x++)
			memcpy(target + (y * args->pitch_units + x) * unit, args->pattern,
			       pattern_bytes);
}

static void copy_units(const struct copy_args *args, size_t unit, uint64_t units)
{
	if (!reaches_flat(args->source, unit, args->source_offset, units) ||
	    !reaches_flat(args->target, unit, args->target_offset, units) || !units)
		return;
	memmove(args->target + args->target_offset * unit,
		args->source + args->source_offset * unit, units * unit);
}

/* The copy of ROCclr 7: all words that begin before END, then the rest. */
static void copy_to_end(const struct copy_args *args)
{
	uint64_t words =
		args->end > args->begin ? (args->end - args->begin - 1) / args->word_bytes + 1 : 0;
	uint64_t rest_begin = args->size - args->rest;

	if (!reaches_flat(args->source, args->word_bytes, 0, words) ||
	    !reaches_flat(args->target, args->word_bytes, 0, words) ||
	    !reaches_flat(args->source, 1, rest_begin, args->rest) ||
	    !reaches_flat(args->target, 1, rest_begin, args->rest))
		return;
	memmove(args->target, args->source, words * args->word_bytes);
	memmove(args->target + rest_begin, args->source + rest_begin, args->rest);
}

/* copyBuffer of ROCclr 5: SIZE words of four bytes, of which the last has only args->unit bytes. If
 * args->unit is 8, SIZE is in bytes. */
static void copy(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct copy_args *args = kernarg;
	uint64_t bytes = args->unit;

	if (args->word_bytes) {
		copy_to_end(args);
		return;
	}
	if (args->unit == 8 || !args->size)
		bytes = args->size;
	else if (!blit_add_product(&bytes, args->size - 1, 4))
		bytes = UINT64_MAX; /* out of range in any case */
	copy_units(args, 1, bytes);
}

static size_t aligned_unit(uint64_t unit)
{
	return unit == 16 ? 16 : 4;
}

static void copy_aligned(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct copy_args *args = kernarg;

	copy_units(args, aligned_unit(args->unit), args->size);
}

static bool reaches_side(const struct rect_args *args, const void *base,
			 const struct rect_side *side, size_t unit)
{
	const struct blit_region region = {.base = base,
					   .unit_bytes = unit,
					   .start = side->start,
					   .width = args->size.width,
					   .height = args->size.height,
					   .depth = args->size.depth,
					   .row = side->row,
					   .slice = side->slice};

	return blit_reaches(&region);
}

static void copy_rows(const struct rect_args *args, size_t unit)
{
	const struct rect_side *from = &args->source_rect;
	const struct rect_side *to = &args->target_rect;

	if (!args->size.width || !reaches_side(args, args->source, from, unit) ||
	    !reaches_side(args, args->target, to, unit))
		return;
	for (uint64_t z = 0; z < args->size.depth; z++)
		for (uint64_t y = 0; y < args->size.height; y++)
			memmove(args->target + (to->start + y * to->row + z * to->slice) * unit,
				args->source +
					(from->start + y * from->row + z * from->slice) * unit,
				args->size.width * unit);
}

static void copy_rect(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	copy_rows(kernarg, 1);
}

static void copy_rect_aligned(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct rect_args *args = kernarg;

	copy_rows(args, aligned_unit(args->size.unit_bytes));
}

/* Returns whether the word can be accessed. It may be a signal's value (hipMallocSignalMemory),
 * which is not in the memory of a pool. */
static bool stream_word_exists(const struct stream_args *args)
{
	const void *word = args->as_u32 ? (const void *)args->as_u32 : args->as_u64;
	const struct blit_region region =
		flat_region(word, args->as_u32 ? sizeof(uint32_t) : sizeof(uint64_t), 0, 1);

	return signal_is_value(word) || blit_reaches(&region);
}

static void stream_write(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct stream_args *args = kernarg;

	if (!stream_word_exists(args))
		return;
	if (args->as_u32)
		__atomic_store_n(args->as_u32, (uint32_t)args->value, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(args->as_u64, args->value, __ATOMIC_SEQ_CST);
}

static bool stream_condition_holds(const struct stream_args *args)
{
	uint64_t seen = args->as_u32 ? __atomic_load_n(args->as_u32, __ATOMIC_ACQUIRE)
				     : __atomic_load_n(args->as_u64, __ATOMIC_ACQUIRE);
	uint64_t width = args->as_u32 ? UINT32_MAX : UINT64_MAX;
	uint64_t value = args->value & width;

	switch (args->flags) {
	case 0: /* greater than or equal */
		return (seen & args->mask & width) >= value;
	case 1:
		return (seen & args->mask & width) == value;
	case 2: /* any common bit */
		return (seen & args->mask & value) != 0;
	default: /* 3: a bit that is 0 in both */
		return (~(seen | value) & args->mask & width) != 0;
	}
}

/* Blocks its queue, as the real kernel does, until the condition holds, the word's memory is freed,
 * or the queue is destroyed. */
static void stream_wait(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct timespec pause = {0, 5000};

	while (!processor_is_stopping() && stream_word_exists(kernarg) &&
	       !stream_condition_holds(kernarg))
		nanosleep(&pause, NULL);
}

/* The real kernels initialize the counter for cooperative launches and the device's heap. The
 * software GPU has neither. */
static void init_nothing(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
}

#define FILL(kind, field, name)	  BLIT_##kind(struct fill_args, field, name)
#define COPY(kind, field, name)	  BLIT_##kind(struct copy_args, field, name)
#define RECT(kind, field, name)	  BLIT_##kind(struct rect_args, field, name)
#define STREAM(kind, field, name) BLIT_##kind(struct stream_args, field, name)

#define FILL_UNITS                                                                                 \
	FILL(ADDRESS, as_u8, "bufUChar"), FILL(ADDRESS, as_u16, "bufUShort"),                      \
		FILL(ADDRESS, as_u32, "bufUInt"), FILL(ADDRESS, as_u64, "bufULong"),               \
		FILL(ADDRESS, pattern, "pattern"), FILL(VALUE, pattern_units, "patternSize"),      \
		FILL(VALUE, offset_units, "offset")
#define COPY_UNITS                                                                                 \
	COPY(ADDRESS, source, "src"), COPY(ADDRESS, target, "dst"),                                \
		COPY(VALUE, source_offset, "srcOrigin"), COPY(VALUE, target_offset, "dstOrigin"),  \
		COPY(VALUE, size, "size")
#define RECT_ALL                                                                                   \
	RECT(ADDRESS, source, "src"), RECT(ADDRESS, target, "dst"),                                \
		RECT(VALUE, source_rect, "srcRect"), RECT(VALUE, target_rect, "dstRect"),          \
		RECT(VALUE, size, "size")
#define STREAM_WORD                                                                                \
	STREAM(ADDRESS, as_u32, "ptrInt"), STREAM(ADDRESS, as_u64, "ptrUlong"),                    \
		STREAM(VALUE, value, "value")

_Static_assert(sizeof(struct fill_args) <= BLIT_MAX_BYTES, "fill_args");
_Static_assert(sizeof(struct rect_args) <= BLIT_MAX_BYTES, "rect_args");

static const struct blit blits[] = {
	{BLIT_PREFIX "fillBufferAligned",
	 fill,
	 {FILL_UNITS, FILL(VALUE, size, "size"), FILL(ADDRESS, target, "buf"),
	  FILL(VALUE, pattern_units, "pattern_size"), FILL(VALUE, unit_bytes, "alignment"),
	  FILL(VALUE, begin, "buf"), FILL(VALUE, end, "end_ptr")}},
	{BLIT_PREFIX "fillBufferAligned2D",
	 fill_2d,
	 {FILL_UNITS, FILL(VALUE, size, "width"), FILL(VALUE, height, "height"),
	  FILL(VALUE, pitch_units, "pitch")}},
	{BLIT_PREFIX "copyBuffer",
	 copy,
	 {COPY_UNITS, COPY(ADDRESS, source, "srcI"), COPY(ADDRESS, target, "dstI"),
	  COPY(VALUE, unit, "remain"), COPY(VALUE, word_bytes, "aligned_size"),
	  COPY(VALUE, rest, "remainder"), COPY(VALUE, begin, "dst"), COPY(VALUE, end, "end_ptr")}},
	{BLIT_PREFIX "copyBufferAligned",
	 copy_aligned,
	 {COPY_UNITS, COPY(VALUE, unit, "alignment")}},
	{BLIT_PREFIX "copyBufferRect", copy_rect, {RECT_ALL}},
	{BLIT_PREFIX "copyBufferRectAligned", copy_rect_aligned, {RECT_ALL}},
	{BLIT_PREFIX "copyBufferToImage", image_blit_from_buffer, {IMAGE_FROM_BUFFER_ARGUMENTS}},
	{BLIT_PREFIX "copyImageToBuffer", image_blit_to_buffer, {IMAGE_TO_BUFFER_ARGUMENTS}},
	{BLIT_PREFIX "gwsInit", init_nothing, {{0}}},
	{BLIT_PREFIX "initHeap", init_nothing, {{0}}},
	{BLIT_PREFIX "streamOpsWrite", stream_write, {STREAM_WORD}},
	{BLIT_PREFIX "streamOpsWait",
	 stream_wait,
	 {STREAM_WORD, STREAM(VALUE, flags, "flags"), STREAM(VALUE, mask, "mask")}},
};

const struct blit *blit_find(const char *name)
{
	for (size_t i = 0; i < sizeof(blits) / sizeof(blits[0]); i++)
		if (!strcmp(name, blits[i].name))
			return &blits[i];
	return NULL;
}

/* The data of place_argument. */
struct layout_reader {
	const struct blit *blit;
	struct blit_layout *layout;
};

static void place_argument(const struct metadata_argument *argument, void *data)
{
	const struct layout_reader *reader = data;

	for (size_t i = 0; i < BLIT_MAX_ARGUMENTS && reader->blit->arguments[i].name; i++) {
		const struct blit_argument *ours = &reader->blit->arguments[i];

		if (!argument->name || strlen(ours->name) != argument->name_length ||
		    memcmp(ours->name, argument->name, argument->name_length) != 0 ||
		    argument->offset > UINT16_MAX)
			continue;
		reader->layout->from[i].offset = (uint16_t)argument->offset;
		reader->layout->from[i].bytes =
			argument->bytes < ours->bytes ? (uint16_t)argument->bytes : ours->bytes;
	}
}

void blit_read_layout(const struct code_object *object, const char *symbol,
		      struct blit_layout *ret_layout)
{
	struct layout_reader reader = {.layout = ret_layout};
	char name[64];

	memset(ret_layout, 0, sizeof(*ret_layout));
	snprintf(name, sizeof(name), "%.*s", (int)(strlen(symbol) - strlen(".kd")), symbol);
	reader.blit = blit_find(name);
	if (reader.blit)
		metadata_each_argument(object, symbol, place_argument, &reader);
}

void blit_run(const struct blit *blit, const struct blit_layout *layout, const void *kernarg,
	      size_t bytes, const hsa_kernel_dispatch_packet_t *packet)
{
	uint64_t arguments[BLIT_MAX_BYTES / sizeof(uint64_t)] = {0};

	for (size_t i = 0; i < BLIT_MAX_ARGUMENTS && blit->arguments[i].name; i++) {
		size_t offset = layout->from[i].offset;
		char *at = (char *)arguments + blit->arguments[i].at;

		/* The kernel does not have it. Another name may have set the field. */
		if (!layout->from[i].bytes || offset + layout->from[i].bytes > bytes)
			continue;
		memcpy(at, (const char *)kernarg + offset, layout->from[i].bytes);
		if (blit->arguments[i].is_address)
			memory_translate_words(at, blit->arguments[i].bytes);
	}
	blit->function(arguments, packet);
}
