/*
 * A block: any records come out byte for byte as they went in, and the decoder survives any bytes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "record/record.h"
#include "trace/pack/pack_block.h"
#include "trace/pack/pack_layout.h"

#define ROOM (1u << 20)

struct records {
	unsigned char *bytes;
	size_t size;
	uint64_t seed;
};

struct coders {
	struct pack_encoder *encoder;
	struct pack_decoder *decoder;
	struct records records;
};

static int setup(void **state)
{
	struct coders *coders = calloc(1, sizeof(*coders));

	coders->records.bytes = malloc(ROOM);
	*state = coders;
	return pack_encoder_create(&coders->encoder) || pack_decoder_create(&coders->decoder);
}

static int teardown(void **state)
{
	struct coders *coders = *state;

	pack_encoder_destroy(coders->encoder);
	pack_decoder_destroy(coders->decoder);
	free(coders->records.bytes);
	free(coders);
	return 0;
}

static struct records *begin(void **state, uint64_t seed)
{
	struct coders *coders = *state;

	coders->records.size = 0;
	coders->records.seed = test_seed() + seed;
	return &coders->records;
}

static uint64_t next_random(struct records *records)
{
	records->seed = records->seed * 6364136223846793005u + 1442695040888963407u;
	return records->seed >> 20;
}

/* Returns room for a record of WORDS with its header filled in; the rest is zero. */
static void *put(struct records *records, uint16_t type, size_t words, uint32_t tag)
{
	struct record_header header = {type, (uint16_t)words, tag};
	unsigned char *place = records->bytes + records->size;

	assert_true(records->size + words * 8 <= ROOM);
	memset(place, 0, words * 8);
	memcpy(place, &header, sizeof(header));
	records->size += words * 8;
	return place;
}

/* Returns the packed size. */
static size_t expect_round_trip(void **state)
{
	struct coders *coders = *state;
	const struct records *records = &coders->records;
	const void *block, *back;
	size_t size;
	void *copy;

	assert_int_equal(pack_encode(coders->encoder, records->bytes, records->size, &block, &size),
			 0);
	/* An allocation of exactly that size, so that a read behind it is detected. */
	copy = malloc(size);
	memcpy(copy, block, size);
	assert_int_equal(pack_decode(coders->decoder, copy, size, records->size, &back), 0);
	assert_memory_equal(back, records->bytes, records->size);
	free(copy);
	return size;
}

static void put_noise(struct records *records, uint16_t type, size_t words)
{
	unsigned char *place = put(records, type, words, (uint32_t)next_random(records));

	for (size_t i = sizeof(struct record_header); i < words * 8; i++)
		place[i] = (unsigned char)next_random(records);
}

/* ---- contents of records ---- */

static void noise_of_every_type_comes_back(void **state)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct records *records = begin(state, seed);

		for (int i = 0; i < 2000; i++)
			put_noise(records,
				  (uint16_t)(next_random(records) % (RECORD_TYPE_COUNT + 3)),
				  1 + next_random(records) % 24);
		expect_round_trip(state);
	}
}

static void records_of_any_size_come_back(void **state)
{
	struct records *records = begin(state, 5);

	for (size_t words = 1; words < 300; words++)
		for (int i = 0; i < 2; i++)
			put_noise(records, RECORD_API, words);
	expect_round_trip(state);
	records->size = 0;
	for (int i = 0; i < 3; i++)
		put_noise(records, RECORD_NOTE, 8000);
	expect_round_trip(state);
}

static void one_record_comes_back(void **state)
{
	for (uint16_t type = 0; type < RECORD_TYPE_COUNT + 2; type++) {
		put_noise(begin(state, type), type, 1 + type % 30);
		expect_round_trip(state);
	}
}

static void unknown_types_are_packed_too(void **state)
{
	struct records *records = begin(state, 9);

	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t *words = put(records, 40000, 6, 3);

		words[1] = i;
		words[2] = 5000 + i * 70;
		words[3] = 0x7f0012345678;
		words[4] = i / 16;
	}
	assert_true(expect_round_trip(state) < 1500);
}

static void extreme_numbers_come_back(void **state)
{
	static const uint64_t extremes[] = {0,	       UINT64_MAX, 1,  (uint64_t)1 << 63,
					    INT64_MAX, 255,	   256};
	struct records *records = begin(state, 11);

	for (int i = 0; i < 4000; i++) {
		struct record_dispatch_done *done =
			put(records, RECORD_DISPATCH_DONE, sizeof(*done) / 8, i % 3);
		struct record_api *api = put(records, RECORD_API, sizeof(*api) / 8 + 1, i % 5);

		done->packet_index = extremes[next_random(records) % 7];
		done->start_tick = extremes[next_random(records) % 7];
		done->end_tick = extremes[next_random(records) % 7];
		api->begin_ns = extremes[next_random(records) % 7];
		api->end_ns = extremes[i % 7];
		api->args[0] = extremes[next_random(records) % 7];
	}
	expect_round_trip(state);
}

static void many_shapes_come_back(void **state)
{
	struct records *records = begin(state, 12);

	for (uint16_t type = 1; type <= 700; type++)
		for (int i = 0; i < 9; i++)
			put_noise(records, type, 1 + type % 4);
	expect_round_trip(state);
}

static void put_scope(struct records *records, uint64_t id, const char *text)
{
	size_t bytes = strlen(text);
	struct record_scope *scope =
		put(records, RECORD_SCOPE, (sizeof(*scope) + bytes + 7) / 8, RECORD_SCOPE_DAGTAP);

	scope->id = id;
	scope->ns = id * 100;
	scope->text_bytes = bytes;
	memcpy(scope->text, text, bytes);
}

static void texts_come_back_and_repeats_are_free(void **state)
{
	static const char *const texts[] = {"", "step", "a longer name of a scope",
					    "XlaModule:#hlo#"};
	struct records *records = begin(state, 13);
	size_t once, again;

	for (uint64_t i = 0; i < 400; i++)
		put_scope(records, i, texts[i % 4]);
	once = expect_round_trip(state);
	for (uint64_t i = 400; i < 8000; i++)
		put_scope(records, i, texts[i % 4]);
	again = expect_round_trip(state);
	assert_true(again < once + 200);
}

/* ---- graphs ---- */

#define NODES	300
#define REPLAYS 20

/* A replay of a graph of NODES kernels, all different; the ticks are like a device's. */
static void put_replay(struct records *records, uint64_t replay)
{
	for (uint32_t node = 0; node < NODES; node++) {
		struct record_dispatch *dispatch =
			put(records, RECORD_DISPATCH, sizeof(*dispatch) / 8, 1 + node % 2);

		dispatch->packet_index = replay * NODES + node;
		dispatch->cid = 7 + replay * 3;
		dispatch->ns = 1000000 + replay * 1000000 + node / 64;
		dispatch->kernel = 1 + node * 7 % 146;
		dispatch->kernel_object = 0x7f0000000000 + dispatch->kernel * 4096;
		dispatch->ordinal = node;
		dispatch->grid[0] = 64 * (1 + node * node % 1000);
		dispatch->workgroup[0] = 64;
		dispatch->group_bytes = 16 * (node % 40);
		dispatch->packet_header = 0x1502;
	}
}

static void replays_are_the_template_and_deltas(void **state)
{
	struct records *records = begin(state, 14);
	size_t one, many;

	put_replay(records, 0);
	one = expect_round_trip(state);
	for (uint64_t replay = 1; replay < REPLAYS; replay++)
		put_replay(records, replay);
	many = expect_round_trip(state);
	assert_true(many - one < (REPLAYS - 1) * NODES / 4);
}

/* ---- the table of fields ---- */

static void fields_cover_each_record_once(void **state)
{
	for (uint16_t type = 0; type < RECORD_TYPE_COUNT; type++) {
		const struct pack_layout *layout = pack_layout_of(type);
		unsigned char covered[512] = {0};

		assert_true(layout->fixed_bytes <= sizeof(covered));
		for (uint16_t i = 0; i < layout->field_count; i++) {
			const struct pack_field *field = &layout->fields[i];

			for (int at = 0; at < field->bytes; at++) {
				covered[field->offset + at]++;
				if (field->end_offset)
					covered[field->end_offset + at]++;
			}
			assert_true(field->key == PACK_NO_KEY || field->key < i);
		}
		for (uint16_t at = 0; at < layout->fixed_bytes; at++)
			assert_int_equal(covered[at], at >= PACK_TAG_OFFSET);
	}
}

/* ---- invalid blocks ---- */

static void what_is_no_record_is_refused(void **state)
{
	struct coders *coders = *state;
	struct records *records = begin(state, 15);
	const void *block;
	size_t size;

	put_noise(records, RECORD_API, 10);
	assert_int_equal(
		pack_encode(coders->encoder, records->bytes, records->size - 8, &block, &size),
		-EINVAL);
	put(records, RECORD_API, 0, 0);
	memset(records->bytes + records->size, 0, 8);
	assert_int_equal(
		pack_encode(coders->encoder, records->bytes, records->size + 8, &block, &size),
		-EINVAL);
}

static void put_mixture(struct records *records)
{
	put_replay(records, 0);
	put_replay(records, 1);
	for (uint64_t i = 0; i < 40; i++)
		put_scope(records, i, i % 3 ? "one of the texts" : "other");
	for (int i = 0; i < 30; i++)
		put_noise(records, RECORD_API, 8 + i % 3);
	for (int i = 0; i < 20; i++)
		put_noise(records, 300, 4);
	put_noise(records, RECORD_NOTE, 5);
}

/*
 * Decodes SIZE bytes; asserts that they are refused, or give as many bytes of complete records as
 * they announce.
 */
static void try_block(struct coders *coders, const unsigned char *block, size_t size)
{
	size_t wanted = coders->records.size;
	const unsigned char *back;
	const void *records;
	int result = pack_decode(coders->decoder, block, size, wanted, &records);

	assert_true(result == 0 || result == -EINVAL);
	if (result < 0)
		return;
	back = records;
	for (size_t at = 0; at < wanted;) {
		struct record_header header;

		memcpy(&header, back + at, sizeof(header));
		assert_true(header.words && header.words * 8u <= wanted - at);
		at += header.words * 8u;
	}
}

static void damaged_blocks_are_survived(void **state)
{
	struct coders *coders = *state;
	struct records *records = begin(state, 16);
	unsigned char *copy;
	const void *block;
	size_t size;

	put_mixture(records);
	assert_int_equal(pack_encode(coders->encoder, records->bytes, records->size, &block, &size),
			 0);
	copy = malloc(size);
	memcpy(copy, block, size);
	for (size_t i = 0; i < size; i++) {
		static const unsigned char flips[] = {0x01, 0x80, 0xff};

		for (size_t f = 0; f < sizeof(flips); f++) {
			copy[i] ^= flips[f];
			try_block(coders, copy, size);
			copy[i] ^= flips[f];
		}
	}
	free(copy);
	for (size_t cut = 0; cut < size; cut += 3) {
		copy = malloc(cut + 1);
		memcpy(copy, block, cut);
		try_block(coders, copy, cut);
		free(copy);
	}
}

static void wrong_sizes_are_refused(void **state)
{
	struct coders *coders = *state;
	struct records *records = begin(state, 17);
	const void *block, *back;
	size_t size;

	put_mixture(records);
	assert_int_equal(pack_encode(coders->encoder, records->bytes, records->size, &block, &size),
			 0);
	assert_int_equal(pack_decode(coders->decoder, block, size, records->size + 8, &back),
			 -EINVAL);
	assert_int_equal(pack_decode(coders->decoder, block, size, records->size - 8, &back),
			 -EINVAL);
	assert_int_equal(pack_decode(coders->decoder, block, size, 0, &back), -EINVAL);
	assert_int_equal(
		pack_decode(coders->decoder, block, size, PACK_BLOCK_BYTES_MOST + 8, &back),
		-EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_of_every_type_comes_back),
		cmocka_unit_test(records_of_any_size_come_back),
		cmocka_unit_test(one_record_comes_back),
		cmocka_unit_test(unknown_types_are_packed_too),
		cmocka_unit_test(extreme_numbers_come_back),
		cmocka_unit_test(many_shapes_come_back),
		cmocka_unit_test(texts_come_back_and_repeats_are_free),
		cmocka_unit_test(replays_are_the_template_and_deltas),
		cmocka_unit_test(fields_cover_each_record_once),
		cmocka_unit_test(what_is_no_record_is_refused),
		cmocka_unit_test(damaged_blocks_are_survived),
		cmocka_unit_test(wrong_sizes_are_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
