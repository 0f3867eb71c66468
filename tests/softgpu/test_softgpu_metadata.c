/* The metadata note of a code object that consists of nothing else, also a damaged one. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "softgpu/blit_kernels.h"
#include "softgpu/metadata.h"

#define NOTE_TYPE 32

/* Writes MessagePack. */
struct writer {
	uint8_t bytes[2048];
	size_t size;
};

static void put(struct writer *writer, const void *bytes, size_t size)
{
	memcpy(writer->bytes + writer->size, bytes, size);
	writer->size += size;
}

static void put_byte(struct writer *writer, uint8_t byte)
{
	put(writer, &byte, 1);
}

static void put_map(struct writer *writer, uint8_t pairs)
{
	put_byte(writer, 0x80 | pairs);
}

static void put_array(struct writer *writer, uint16_t count)
{
	const uint8_t bytes[3] = {0xdc, (uint8_t)(count >> 8), (uint8_t)count};

	put(writer, bytes, sizeof(bytes));
}

static void put_text(struct writer *writer, const char *text)
{
	if (strlen(text) < 32) {
		put_byte(writer, (uint8_t)(0xa0 | strlen(text)));
	} else {
		put_byte(writer, 0xd9);
		put_byte(writer, (uint8_t)strlen(text));
	}
	put(writer, text, strlen(text));
}

static void put_number(struct writer *writer, uint16_t number)
{
	const uint8_t bytes[3] = {0xcd, (uint8_t)(number >> 8), (uint8_t)number};

	put(writer, bytes, sizeof(bytes));
}

struct argument {
	const char *name;
	uint16_t offset, bytes;
};

static void put_kernel(struct writer *writer, const char *symbol, const struct argument *arguments,
		       uint16_t count)
{
	put_map(writer, 3);
	put_text(writer, ".args");
	put_array(writer, count);
	for (uint16_t i = 0; i < count; i++) {
		put_map(writer, arguments[i].name ? 4 : 3);
		put_text(writer, ".address_space");
		put_byte(writer, 0xc0); /* nil */
		if (arguments[i].name) {
			put_text(writer, ".name");
			put_text(writer, arguments[i].name);
		}
		put_text(writer, ".offset");
		put_number(writer, arguments[i].offset);
		put_text(writer, ".size");
		put_number(writer, arguments[i].bytes);
	}
	put_text(writer, ".symbol");
	put_text(writer, symbol);
	put_text(writer, ".wavefront_size");
	put_byte(writer, 64);
}

/* An ELF file with a header, a segment of notes and the metadata note. */
static struct code_object make_object(const struct writer *metadata, uint8_t *bytes)
{
	const Elf64_Nhdr note = {sizeof("AMDGPU"), (Elf64_Word)metadata->size, NOTE_TYPE};
	const Elf64_Nhdr other = {4, 2, NOTE_TYPE};
	const size_t notes_at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
	size_t at = notes_at;
	Elf64_Ehdr header = {.e_phoff = sizeof(header), .e_phnum = 1};
	Elf64_Phdr segment = {.p_type = PT_NOTE, .p_offset = notes_at};

	memcpy(bytes + at, &other, sizeof(other));
	memcpy(bytes + at + sizeof(other), "LLD\0ab\0\0", 8);
	at += sizeof(other) + 8;
	memcpy(bytes + at, &note, sizeof(note));
	memcpy(bytes + at + sizeof(note), "AMDGPU\0\0", 8);
	memcpy(bytes + at + sizeof(note) + 8, metadata->bytes, metadata->size);
	at += sizeof(note) + 8 + metadata->size;
	segment.p_filesz = at - notes_at;
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), &segment, sizeof(segment));
	return (struct code_object){.bytes = bytes, .size = at};
}

static const struct argument copy_arguments[] = {
	{"src", 0, 8},		 {"dst", 8, 8},	     {"size", 16, 8},	    {"remainder", 24, 4},
	{"aligned_size", 28, 4}, {"end_ptr", 32, 8}, {"next_chunk", 40, 4}, {NULL, 48, 8},
};

#define COPY_KERNEL "__amd_rocclr_copyBuffer.kd"

static struct writer two_kernels(void)
{
	struct writer writer = {.size = 0};

	put_map(&writer, 3);
	put_text(&writer, "amdhsa.target");
	put_text(&writer, "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-");
	put_text(&writer, "amdhsa.kernels");
	put_array(&writer, 2);
	put_kernel(&writer, "other.kd", copy_arguments, 1);
	put_kernel(&writer, COPY_KERNEL, copy_arguments,
		   sizeof(copy_arguments) / sizeof(copy_arguments[0]));
	put_text(&writer, "amdhsa.version");
	put_array(&writer, 0);
	return writer;
}

static void take_argument(const struct metadata_argument *argument, void *data)
{
	char *text = data;

	sprintf(text + strlen(text), "%.*s@%u+%u ", (int)argument->name_length,
		argument->name ? argument->name : "", argument->offset, argument->bytes);
}

static void arguments_are_listed(void **state)
{
	const struct writer writer = two_kernels();
	char text[512] = "";
	uint8_t bytes[4096];
	struct code_object object = make_object(&writer, bytes);

	assert_int_equal(metadata_each_argument(&object, "other.kd", take_argument, text), 0);
	assert_string_equal(text, "src@0+8 ");
	text[0] = '\0';
	assert_int_equal(metadata_each_argument(&object, COPY_KERNEL, take_argument, text), 0);
	assert_string_equal(text, "src@0+8 dst@8+8 size@16+8 remainder@24+4 aligned_size@28+4 "
				  "end_ptr@32+8 next_chunk@40+4 @48+8 ");
	assert_int_equal(metadata_each_argument(&object, "third.kd", take_argument, text), -ENOENT);
}

/* The arguments of ROCclr's kernels are found by name, wherever the code object places them. */
static uint64_t seen_size, seen_rest;

static void take_copy(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const uint64_t *words = kernarg;

	seen_size = words[0];
	seen_rest = words[1];
}

static void blits_find_their_arguments_by_name(void **state)
{
	const struct writer writer = two_kernels();
	uint8_t bytes[4096];
	struct code_object object = make_object(&writer, bytes);
	const struct blit *real = blit_find("__amd_rocclr_copyBuffer");
	struct blit blit = *real;
	uint32_t kernarg[14] = {0};
	struct blit_layout layout;

	blit_read_layout(&object, COPY_KERNEL, &layout);
	for (size_t i = 0; i < BLIT_MAX_ARGUMENTS && real->arguments[i].name; i++) {
		if (!strcmp(real->arguments[i].name, "size"))
			blit.arguments[i].at = 0;
		else if (!strcmp(real->arguments[i].name, "remainder"))
			blit.arguments[i].at = 8;
		else
			blit.arguments[i].at = 64;
		/* Arguments that this code object lacks have no place in the layout. */
		assert_int_equal(layout.from[i].bytes == 0,
				 !strcmp(real->arguments[i].name, "srcI") ||
					 !strcmp(real->arguments[i].name, "dstI") ||
					 !strcmp(real->arguments[i].name, "srcOrigin") ||
					 !strcmp(real->arguments[i].name, "dstOrigin") ||
					 !strcmp(real->arguments[i].name, "remain"));
	}
	blit.function = take_copy;
	kernarg[4] = 77;
	kernarg[6] = 3;
	blit_run(&blit, &layout, kernarg, sizeof(kernarg), NULL);
	assert_int_equal(seen_size, 77);
	assert_int_equal(seen_rest, 3);
	/* Arguments behind the end of the packet's memory read as 0. */
	blit_run(&blit, &layout, kernarg, 26, NULL);
	assert_int_equal(seen_size, 77);
	assert_int_equal(seen_rest, 0);
}

/* Each byte is damaged in turn, and the file is cut at every length: the reader must answer and
 * must not read outside the file. */
static void damage_is_survived(void **state)
{
	const struct writer writer = two_kernels();
	uint8_t bytes[4096];
	char text[8192];
	struct code_object object = make_object(&writer, bytes);
	size_t size = object.size;

	for (size_t i = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr); i < size; i++) {
		for (int damage = 0; damage < 4; damage++) {
			const uint8_t values[] = {0xff, 0xdd, 0xc9, 0x00};
			uint8_t *copy = malloc(size);

			memcpy(copy, bytes, size);
			copy[i] = values[damage];
			object.bytes = copy;
			text[0] = '\0';
			metadata_each_argument(&object, COPY_KERNEL, take_argument, text);
			free(copy);
		}
	}
	for (size_t shorter = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr); shorter < size; shorter++) {
		uint8_t *copy = malloc(shorter);
		const uint64_t notes = shorter - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr);

		memcpy(copy, bytes, shorter);
		memcpy(copy + sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz), &notes,
		       sizeof(notes));
		object = (struct code_object){.bytes = copy, .size = shorter};
		text[0] = '\0';
		assert_int_not_equal(
			metadata_each_argument(&object, COPY_KERNEL, take_argument, text), 0);
		free(copy);
	}
}

static void deep_nesting_is_refused(void **state)
{
	struct writer writer = {.size = 0};
	char text[64] = "";
	uint8_t bytes[4096];
	struct code_object object;

	put_map(&writer, 2);
	put_text(&writer, "deep");
	for (int i = 0; i < 1000; i++)
		put_byte(&writer, 0x91); /* an array of one element */
	put_byte(&writer, 0xc0);
	put_text(&writer, "amdhsa.kernels");
	put_array(&writer, 0);
	object = make_object(&writer, bytes);
	assert_int_equal(metadata_each_argument(&object, "some.kd", take_argument, text), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_listed),
		cmocka_unit_test(blits_find_their_arguments_by_name),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(deep_nesting_is_refused),
	};

	return cmocka_run_group_tests_name("metadata", tests, NULL, NULL);
}
