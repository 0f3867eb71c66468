/* The comparison of two captures, and what a code object says of a kernel's parameters: on bytes
 * only, without a driver. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/compare.h"
#include "patch/hip/amd_code.h"
#include "suite.h"

/* Realistic addresses: both sets have the same upper bytes. */
static void *const set_a[] = {(void *)0x7f0012340000, (void *)0x7f0012350100};
static void *const set_b[] = {(void *)0x7f0056780000, (void *)0x7f0056790100};
static const uint64_t sizes[] = {0x1000, 0x40};
static const struct compare_slots slots = {2, sizes, set_a, set_b};

static void put(uint8_t *bytes, uint32_t at, uint64_t value)
{
	memcpy(bytes + at, &value, sizeof(value));
}

static void put_both(uint8_t *a, uint8_t *b, uint32_t at, uint32_t slot_number, uint64_t offset)
{
	put(a, at, (uintptr_t)set_a[slot_number] + offset);
	put(b, at, (uintptr_t)set_b[slot_number] + offset);
}

static void each_byte_is_found(void **state)
{
	for (uint32_t at = 0; at <= 24; at++)
		for (uint64_t offset = 0; offset <= 0x1000; offset += 0x155) {
			uint8_t a[32] = {0}, b[32] = {0};
			struct compare_match match;

			memset(a, 0xa5, sizeof(a));
			memset(b, 0xa5, sizeof(b));
			put_both(a, b, at, 0, offset);
			assert_int_equal(
				compare_next(&(struct compare_bytes){a, b, 32}, 0, &slots, &match),
				COMPARE_MATCH);
			assert_int_equal(match.byte, at);
			assert_int_equal(match.slot, 0);
			assert_int_equal(match.offset, offset);
			assert_int_equal(compare_next(&(struct compare_bytes){a, b, 32}, at + 8,
						      &slots, &match),
					 COMPARE_SAME);
		}
}

static void neighbours_are_told_apart(void **state)
{
	uint8_t a[24] = {0}, b[24] = {0};
	struct compare_match match;

	put_both(a, b, 3, 1, 0x10);
	put_both(a, b, 11, 0, 0);
	assert_int_equal(compare_next(&(struct compare_bytes){a, b, 24}, 0, &slots, &match),
			 COMPARE_MATCH);
	assert_int_equal(match.byte, 3);
	assert_int_equal(match.slot, 1);
	assert_int_equal(compare_next(&(struct compare_bytes){a, b, 24}, 11, &slots, &match),
			 COMPARE_MATCH);
	assert_int_equal(match.byte, 11);
	assert_int_equal(match.slot, 0);
}

/* A difference that is no whole address in a slot is unexplained. */
static void what_no_slot_explains(void **state)
{
	uint8_t a[24] = {0}, b[24] = {0};
	struct compare_match match;

	/* An address behind the slot; half of an address; offsets that differ; a number. */
	put_both(a, b, 8, 1, 0x41);
	assert_int_equal(compare_next(&(struct compare_bytes){a, b, 24}, 0, &slots, &match),
			 COMPARE_UNEXPLAINED);
	put_both(a, b, 8, 1, 0x40);
	assert_int_equal(compare_next(&(struct compare_bytes){a, b, 12}, 0, &slots, &match),
			 COMPARE_UNEXPLAINED);
	put(b, 8, (uintptr_t)set_b[1] + 8);
	assert_int_equal(compare_next(&(struct compare_bytes){a, b, 24}, 0, &slots, &match),
			 COMPARE_UNEXPLAINED);
	put(a, 8, 1);
	put(b, 8, 2);
	assert_int_equal(compare_next(&(struct compare_bytes){a, b, 24}, 0, &slots, &match),
			 COMPARE_UNEXPLAINED);
	assert_int_equal(match.byte, 8);
}

static void two_explanations(void **state)
{
	static void *const twice_a[] = {(void *)0x7f0012340000, (void *)0x7f0012340000};
	static void *const twice_b[] = {(void *)0x7f0056780000, (void *)0x7f0056780000};
	static void *const apart_b[] = {(void *)0x7f0056780000, (void *)0x7f0056790000};
	const struct compare_slots both = {2, sizes, twice_a, twice_b};
	const struct compare_slots apart = {2, sizes, twice_a, apart_b};
	uint8_t a[8], b[8];
	struct compare_match match;

	put(a, 0, (uintptr_t)twice_a[0]);
	put(b, 0, (uintptr_t)twice_b[0]);
	assert_int_equal(compare_next(&(struct compare_bytes){a, b, 8}, 0, &both, &match),
			 COMPARE_AMBIGUOUS);
	/* The second set excludes one of the two explanations. */
	assert_int_equal(compare_next(&(struct compare_bytes){a, b, 8}, 0, &apart, &match),
			 COMPARE_MATCH);
	assert_int_equal(match.slot, 0);
}

/* The end of one slot at one byte and the inside of another slot at the next byte: either may be
 * meant. */
static void two_explanations_at_different_bytes(void **state)
{
	static void *const from[] = {(void *)0x7f0012340000, (void *)0xa500007f00124000};
	static void *const to[] = {(void *)0x7f0056780000, (void *)0xa500007f00568400};
	static const uint64_t bytes[] = {0x100000, 0x1000};
	const struct compare_slots both = {2, bytes, from, to};
	uint8_t a[9], b[9];
	struct compare_match match;

	put(a, 0, 0x7f0012340000 + 0x100000);
	put(b, 0, 0x7f0056780000 + 0x100000);
	a[8] = b[8] = 0xa5;
	assert_int_equal(compare_next(&(struct compare_bytes){a, b, 9}, 0, &both, &match),
			 COMPARE_AMBIGUOUS);
}

/* Two buffers are adjacent in both captures: the first byte of the second is not the end of the
 * first. */
static void behind_each_other(void **state)
{
	static void *const one_a[] = {(void *)0x7f0012340000, (void *)0x7f0012341000};
	static void *const one_b[] = {(void *)0x7f0056780000, (void *)0x7f0056781000};
	const struct compare_slots row = {2, sizes, one_a, one_b};
	uint8_t a[8], b[8];
	struct compare_match match;

	put(a, 0, (uintptr_t)one_a[1]);
	put(b, 0, (uintptr_t)one_b[1]);
	assert_int_equal(compare_next(&(struct compare_bytes){a, b, 8}, 0, &row, &match),
			 COMPARE_MATCH);
	assert_int_equal(match.slot, 1);
	assert_int_equal(match.offset, 0);
	put(a, 0, (uintptr_t)one_a[1] + 0x40);
	put(b, 0, (uintptr_t)one_b[1] + 0x40);
	assert_int_equal(compare_next(&(struct compare_bytes){a, b, 8}, 0, &row, &match),
			 COMPARE_MATCH);
	assert_int_equal(match.slot, 1);
	assert_int_equal(match.offset, 0x40);
}

/* ---- code objects ---- */

/* The text of a metadata note as compilers write it: one kernel "k" with a pointer, a number and
 * a hidden argument. */
static const uint8_t metadata[] = "\x81\xae"
				  "amdhsa.kernels\x91\x82\xa5.args\x93"
				  "\x83\xa7.offset\x00\xa5.size\x08\xab.value_kind\xad"
				  "global_buffer"
				  "\x83\xa7.offset\xcc\x08\xa5.size\x04\xab.value_kind\xa8"
				  "by_value"
				  "\x83\xa7.offset\x10\xa5.size\x08\xab.value_kind\xb6"
				  "hidden_global_offset_x"
				  "\xa5.name\xa1k";

enum { NOTE_AT = 64 + 56, TEXT_AT = NOTE_AT + 12 + 8, TEXT_BYTES = sizeof(metadata) - 1 };
enum { FILE_BYTES = TEXT_AT + TEXT_BYTES };

static void make_file(uint8_t bytes[FILE_BYTES])
{
	static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	const uint64_t segment[7] = {4, NOTE_AT, 0, 0, 12 + 8 + TEXT_BYTES, 0, 4};
	const uint32_t note[3] = {7, TEXT_BYTES, 32};
	const uint64_t headers_at = 64;
	const uint16_t sizes_of[3] = {64, 56, 1};

	memset(bytes, 0, FILE_BYTES);
	memcpy(bytes, magic, sizeof(magic));
	memcpy(bytes + 32, &headers_at, 8);
	memcpy(bytes + 52, sizes_of, sizeof(sizes_of));
	memcpy(bytes + 64, segment, sizeof(segment));
	memcpy(bytes + NOTE_AT, note, sizeof(note));
	memcpy(bytes + NOTE_AT + 12, "AMDGPU", 7);
	memcpy(bytes + TEXT_AT, metadata, TEXT_BYTES);
}

static void code_object_says_what_a_kernel_takes(void **state)
{
	struct dagpatch_parameter parameters[3];
	uint8_t bytes[FILE_BYTES];

	make_file(bytes);
	assert_int_equal(amd_code_parameters(bytes, FILE_BYTES, "k", parameters, 3), 3);
	assert_int_equal(parameters[0].kind, DAGPATCH_PARAMETER_POINTER);
	assert_int_equal(parameters[1].offset, 8);
	assert_int_equal(parameters[1].bytes, 4);
	assert_int_equal(parameters[1].kind, DAGPATCH_PARAMETER_VALUE);
	assert_int_equal(parameters[2].kind, DAGPATCH_PARAMETER_HIDDEN);
	assert_int_equal(amd_code_parameters(bytes, FILE_BYTES, "k", parameters, 1), 3);
	assert_int_equal(amd_code_parameters(bytes, FILE_BYTES, "other", parameters, 3), -ENOENT);
}

/* Files that are cut at any length or have any one byte changed: the reader must answer and must
 * not crash. */
static void broken_code_objects(void **state)
{
	struct dagpatch_parameter parameters[3];
	uint8_t bytes[FILE_BYTES];

	for (uint32_t size = 0; size < FILE_BYTES; size++) {
		uint8_t *cut = malloc(size + 1);

		make_file(bytes);
		memcpy(cut, bytes, size);
		assert_true(amd_code_parameters(cut, size, "k", parameters, 3) < 0);
		free(cut);
	}
	for (uint32_t at = 0; at < FILE_BYTES; at++)
		for (uint32_t value = 0; value < 256; value++) {
			make_file(bytes);
			bytes[at] = (uint8_t)value;
			amd_code_parameters(bytes, FILE_BYTES, "k", parameters, 3);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_is_found),
		cmocka_unit_test(neighbours_are_told_apart),
		cmocka_unit_test(what_no_slot_explains),
		cmocka_unit_test(two_explanations),
		cmocka_unit_test(two_explanations_at_different_bytes),
		cmocka_unit_test(behind_each_other),
		cmocka_unit_test(code_object_says_what_a_kernel_takes),
		cmocka_unit_test(broken_code_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
