/* Random graphs (random_world.h): capturing them. */
#include <errno.h>

#include "random_world.h"

static int capture_kernel(void *stream, enum bed_kernel kernel, void *const *parameters)
{
	return suite_bed->launch(stream, kernel, 1, QUARTER, parameters) ? -EIO : 0;
}

static int capture_copy(const struct operation *operation, void *stream, uint32_t *const at[3])
{
	uint32_t pitch = operation->extent[2] > 1 ? 16 : 32;
	struct bed_copy copy = {
		.dst = at[0],
		.src = at[1],
		.dst_pitch = pitch,
		.src_pitch = pitch,
		.dst_rows = 4,
		.src_rows = 4,
		.width = operation->extent[0],
		.height = operation->extent[1],
		.depth = operation->extent[2],
	};

	return suite_bed->copy(stream, &copy) ? -EIO : 0;
}

static int capture_memset(const struct operation *operation, void *stream, uint32_t *to)
{
	uint32_t value = (uint32_t)operation->scalar;

	if (operation->extent[0] < 4)
		value &= (1u << 8 * operation->extent[0]) - 1;
	return suite_bed->memset(stream, to, value, operation->extent[0], operation->extent[1])
		       ? -EIO
		       : 0;
}

static int capture_operation(const struct operation *operation, void *stream, uint32_t *const at[3])
{
	uint32_t count = operation->kind == FOLD ? QUARTER / 2 : QUARTER;
	uint32_t scalar = (uint32_t)operation->scalar;
	struct bed_struct by_value = {
		.dst = at[0], .scalar = operation->scalar, .count = QUARTER, .src = at[1]};
	struct bed_packed packed = {
		.count = QUARTER, .dst = at[0], .scalar = (uint8_t)scalar, .src = at[1]};

	switch (operation->kind) {
	case ADD:
	case MUL:
		return capture_kernel(
			stream, operation->kind == ADD ? BED_ADD : BED_MUL,
			(void *[]){(void *)&at[0], (void *)&at[1], (void *)&at[2], &count});
	case FOLD:
		return capture_kernel(stream, BED_FOLD,
				      (void *[]){(void *)&at[0], (void *)&at[1],
						 (void *)&operation->scalar, &count});
	case STRUCT:
		return capture_kernel(stream, BED_STRUCT, (void *[]){&by_value});
	case PACKED:
		return capture_kernel(stream, BED_PACKED, (void *[]){&packed});
	case MARK:
		return capture_kernel(stream, BED_MARK, (void *[]){(void *)&at[0], &scalar});
	case COPY:
		return capture_copy(operation, stream, at);
	default:
		return capture_memset(operation, stream, at[0]);
	}
}

int block_capture(void *user, void *stream, void *const *addresses)
{
	const struct block *block = user;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < block->count; i++) {
		const struct operation *operation = &block->operations[i];
		uint32_t *at[3];

		for (uint32_t j = 0; j < 3; j++)
			at[j] = (uint32_t *)addresses[operation->slots[j]] +
				operation->quarters[j] * QUARTER;
		rc = capture_operation(operation, stream, at);
	}
	return rc;
}
