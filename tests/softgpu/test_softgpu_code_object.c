/* The ELF parser and relocator, with valid code objects and with every kind of damage. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "raw_machine.h"
#include "softgpu/code_object.h"

#define GFX906	     "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"
#define LOAD_ADDRESS 0x7f1234567000ull

struct bytes {
	uint8_t *data;
	size_t size;
};

static struct bytes read_data(const char *name)
{
	struct bytes bytes;

	bytes.data = machine_read_data(name, &bytes.size);
	return bytes;
}

static const struct code_object_symbol *find(const struct code_object *object, const char *name)
{
	for (size_t i = 0; i < object->symbol_count; i++) {
		if (strcmp(object->symbols[i].name, name) == 0)
			return &object->symbols[i];
	}
	return NULL;
}

static bool resolve_elsewhere(const char *name, void *data, uint64_t *ret_address)
{
	*ret_address = *(const uint64_t *)data;
	return strcmp(name, "elsewhere") == 0;
}

static void symbols_of_an_object(void **state)
{
	struct bytes bytes = read_data("kernels.gfx906.co");
	const struct code_object_symbol *symbol;
	struct code_object object;

	assert_int_equal(code_object_parse(bytes.data, bytes.size, &object), 0);
	assert_int_equal(object.symbol_count, 5);
	symbol = find(&object, "scale.kd");
	assert_non_null(symbol);
	assert_true(symbol->is_kernel);
	assert_int_equal(symbol->kernarg_bytes, 24);
	assert_int_equal(symbol->group_bytes, 1024);
	assert_int_equal(symbol->private_bytes, 16);
	symbol = find(&object, "limits");
	assert_non_null(symbol);
	assert_false(symbol->is_kernel);
	assert_true(symbol->is_const);
	assert_int_equal(symbol->bytes, 8);
	symbol = find(&object, "total");
	assert_non_null(symbol);
	assert_false(symbol->is_const);
	/* The kernels' entry points are functions, which programs do not look up. */
	assert_null(find(&object, "scale"));
	code_object_release(&object);
	free(bytes.data);
}

static uint64_t read_word(const uint8_t *image, const struct code_object *object, uint64_t address)
{
	uint64_t word;

	memcpy(&word, image + (address - object->begin), sizeof(word));
	return word;
}

static void relocations_are_applied(void **state)
{
	struct bytes bytes = read_data("kernels.gfx906.co");
	struct code_object object;
	uint64_t delta;
	uint64_t pointers;
	uint8_t *image;

	assert_int_equal(code_object_parse(bytes.data, bytes.size, &object), 0);
	image = calloc(1, object.end - object.begin);
	assert_int_equal(code_object_load(&object, image, LOAD_ADDRESS, NULL, NULL), 0);
	delta = LOAD_ADDRESS - object.begin;
	pointers = find(&object, "pointers")->address;
	assert_int_equal(read_word(image, &object, pointers),
			 delta + find(&object, "total")->address);
	assert_int_equal(read_word(image, &object, pointers + 8),
			 delta + find(&object, "limits")->address + 4);
	assert_int_equal(read_word(image, &object, pointers + 16), delta + pointers + 24);
	assert_int_equal(read_word(image, &object, pointers + 24), 5);
	assert_int_equal(read_word(image, &object, find(&object, "total")->address), 42);
	free(image);
	code_object_release(&object);
	free(bytes.data);
}

static void external_variable(void **state)
{
	struct bytes bytes = read_data("external.gfx906.co");
	uint64_t elsewhere = 0x1000;
	struct code_object object;
	uint64_t link;
	uint8_t *image;

	assert_int_equal(code_object_parse(bytes.data, bytes.size, &object), 0);
	image = calloc(1, object.end - object.begin);
	assert_int_equal(code_object_load(&object, image, LOAD_ADDRESS, NULL, NULL), -ENOENT);
	assert_int_equal(
		code_object_load(&object, image, LOAD_ADDRESS, resolve_elsewhere, &elsewhere), 0);
	link = find(&object, "link")->address;
	assert_int_equal(read_word(image, &object, link), elsewhere + 8);
	/* A weak variable without a definition is at address 0. */
	assert_int_equal(read_word(image, &object, link + 8), 0);
	free(image);
	code_object_release(&object);
	free(bytes.data);
}

static void names_of_the_isa_match(void **state)
{
	struct bytes bytes = read_data("kernels.gfx906.co");
	struct code_object object;

	assert_int_equal(code_object_parse(bytes.data, bytes.size, &object), 0);
	assert_true(code_object_matches_isa(&object, GFX906));
	assert_true(code_object_matches_isa(&object, "amdgcn-amd-amdhsa--gfx906"));
	assert_false(code_object_matches_isa(&object, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"));
	assert_false(code_object_matches_isa(&object, "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack+"));
	assert_false(code_object_matches_isa(&object, "amdgcn-amd-amdhsa--gfx906:sramecc-:xnack-"));
	assert_false(code_object_matches_isa(&object, "gfx906"));
	code_object_release(&object);
	free(bytes.data);
}

/* Parses and relocates the data as far as it is valid. The copy has exactly SIZE bytes, so that
 * ASan reports any access behind the end. */
static int try_object(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct code_object object;
	int err;

	memcpy(copy, data, size);
	err = code_object_parse(copy, size, &object);
	if (err == 0) {
		size_t bytes = object.end - object.begin;
		uint8_t *image = bytes <= 1 << 20 ? calloc(1, bytes) : NULL;

		if (image)
			err = code_object_load(&object, image, LOAD_ADDRESS, NULL, NULL);
		free(image);
		code_object_release(&object);
	}
	free(copy);
	return err;
}

static void cut_anywhere(void **state)
{
	struct bytes bytes = read_data("kernels.gfx906.co");

	/* The section headers are at the end, so every shorter file is incomplete. */
	for (size_t size = 0; size < bytes.size; size++)
		assert_int_equal(try_object(bytes.data, size), -EINVAL);
	assert_int_equal(try_object(bytes.data, bytes.size), 0);
	free(bytes.data);
}

static void any_byte_changed(void **state)
{
	static const uint8_t masks[] = {0x01, 0x80, 0xff};
	struct bytes bytes = read_data("kernels.gfx906.co");
	int refused = 0;

	for (size_t i = 0; i < bytes.size; i++) {
		for (size_t m = 0; m < sizeof(masks); m++) {
			bytes.data[i] ^= masks[m];
			refused += try_object(bytes.data, bytes.size) < 0;
			bytes.data[i] ^= masks[m];
		}
	}
	assert_int_not_equal(refused, 0);
	assert_int_equal(try_object(bytes.data, bytes.size), 0);
	free(bytes.data);
}

static void foreign_files(void **state)
{
	struct bytes bytes = read_data("kernels.gfx906.co");
	static const struct {
		size_t offset;
		uint8_t value;
	} wrong[] = {
		{4, 1},	  /* ELFCLASS32 */
		{5, 2},	  /* big endian */
		{7, 0},	  /* System V */
		{8, 0},	  /* code object version 2 */
		{16, 1},  /* relocatable */
		{18, 62}, /* x86-64 */
	};

	assert_int_equal(
		try_object((const uint8_t *)"plain text, long enough to hold an ELF header "
					    "or so it seems to be the case here",
			   80),
		-EINVAL);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint8_t right = bytes.data[wrong[i].offset];

		bytes.data[wrong[i].offset] = wrong[i].value;
		assert_int_equal(try_object(bytes.data, bytes.size), -EINVAL);
		bytes.data[wrong[i].offset] = right;
	}
	free(bytes.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_of_an_object), cmocka_unit_test(relocations_are_applied),
		cmocka_unit_test(external_variable),	cmocka_unit_test(names_of_the_isa_match),
		cmocka_unit_test(cut_anywhere),		cmocka_unit_test(any_byte_changed),
		cmocka_unit_test(foreign_files),
	};

	return cmocka_run_group_tests_name("code object", tests, NULL, NULL);
}
