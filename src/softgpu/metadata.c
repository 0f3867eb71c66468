/* A reader of the MessagePack in a code object's note (metadata.h). It copies nothing: texts stay
 * in the note, and a map is searched again for each key. */
#include "softgpu/metadata.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define NOTE_NAME	   "AMDGPU"
#define NOTE_TYPE_METADATA 32
#define MAX_DEPTH	   16 /* more than any metadata needs */

/* A position in the metadata. Reading a value moves AT behind it. After a failure is_broken stays
 * set. */
struct reader {
	const uint8_t *at;
	const uint8_t *end;
	bool is_broken;
};

enum value_type { VALUE_OTHER, VALUE_NUMBER, VALUE_TEXT, VALUE_ARRAY, VALUE_MAP };

struct value {
	enum value_type type;
	uint64_t number;  /* the number; or the count of bytes, elements or pairs */
	const char *text; /* of VALUE_TEXT; no NUL at its end */
};

static uint64_t read_big_endian(struct reader *reader, size_t bytes)
{
	uint64_t value = 0;

	if (bytes > (size_t)(reader->end - reader->at)) {
		reader->is_broken = true;
		return 0;
	}
	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | *reader->at++;
	return value;
}

static void skip_bytes(struct reader *reader, uint64_t bytes)
{
	if (bytes > (uint64_t)(reader->end - reader->at))
		reader->is_broken = true;
	else
		reader->at += bytes;
}

static struct value text_value(struct reader *reader, uint64_t length)
{
	struct value value = {VALUE_TEXT, length, (const char *)reader->at};

	skip_bytes(reader, length);
	return value;
}

/* Reads a value whose first byte is FIRST, from 0xc0 to 0xdf; the byte itself was read. */
static struct value read_long(struct reader *reader, uint8_t first)
{
	struct value value = {.type = VALUE_OTHER};

	switch (first) {
	case 0xc4: /* bytes with a length of 1, 2 or 4 */
	case 0xc5:
	case 0xc6:
		skip_bytes(reader, read_big_endian(reader, (size_t)1 << (first - 0xc4)));
		return value;
	case 0xc7: /* an extension: length, type, bytes */
	case 0xc8:
	case 0xc9:
		skip_bytes(reader, read_big_endian(reader, (size_t)1 << (first - 0xc7)) + 1);
		return value;
	case 0xca: /* floats */
	case 0xcb:
		skip_bytes(reader, first == 0xca ? 4 : 8);
		return value;
	case 0xcc: /* unsigned */
	case 0xcd:
	case 0xce:
	case 0xcf:
		value.type = VALUE_NUMBER;
		value.number = read_big_endian(reader, (size_t)1 << (first - 0xcc));
		return value;
	case 0xd0: /* signed: not used, because no number in the metadata is negative */
	case 0xd1:
	case 0xd2:
	case 0xd3:
		skip_bytes(reader, (size_t)1 << (first - 0xd0));
		return value;
	case 0xd4: /* extensions of 1 to 16 bytes, and their type */
	case 0xd5:
	case 0xd6:
	case 0xd7:
	case 0xd8:
		skip_bytes(reader, ((uint64_t)1 << (first - 0xd4)) + 1);
		return value;
	case 0xd9:
	case 0xda:
	case 0xdb:
		return text_value(reader, read_big_endian(reader, (size_t)1 << (first - 0xd9)));
	case 0xdc:
	case 0xdd:
		value.type = VALUE_ARRAY;
		value.number = read_big_endian(reader, (size_t)2 << (first - 0xdc));
		return value;
	case 0xde:
	case 0xdf:
		value.type = VALUE_MAP;
		value.number = read_big_endian(reader, (size_t)2 << (first - 0xde));
		return value;
	default: /* nil, false, true */
		return value;
	}
}

/* Reads the next value; of an array or a map only its head. */
static struct value read_value(struct reader *reader)
{
	uint8_t first = (uint8_t)read_big_endian(reader, 1);

	if (first <= 0x7f)
		return (struct value){VALUE_NUMBER, first, NULL};
	if (first <= 0x8f)
		return (struct value){VALUE_MAP, first & 0xfu, NULL};
	if (first <= 0x9f)
		return (struct value){VALUE_ARRAY, first & 0xfu, NULL};
	if (first <= 0xbf)
		return text_value(reader, first & 0x1fu);
	if (first >= 0xe0)
		return (struct value){.type = VALUE_OTHER};
	return read_long(reader, first);
}

static void skip_value(struct reader *reader, unsigned int depth)
{
	struct value value = read_value(reader);
	uint64_t count = value.type == VALUE_ARRAY || value.type == VALUE_MAP ? value.number : 0;

	if (depth == MAX_DEPTH)
		reader->is_broken = true;
	for (uint64_t i = 0; i < count && !reader->is_broken; i++) {
		skip_value(reader, depth + 1);
		if (value.type == VALUE_MAP)
			skip_value(reader, depth + 1);
	}
}

static bool is_text(const struct value *value, const char *text)
{
	return value->type == VALUE_TEXT && value->number == strlen(text) &&
	       memcmp(value->text, text, value->number) == 0;
}

/* Gives the position of the value of KEY in the map at MAP. Returns false when there is none. MAP
 * does not move. */
static bool find_key(const struct reader *map, const char *key, struct reader *ret_value)
{
	struct reader reader = *map;
	struct value head = read_value(&reader);

	if (head.type != VALUE_MAP)
		return false;
	for (uint64_t i = 0; i < head.number && !reader.is_broken; i++) {
		struct value name = read_value(&reader);

		if (reader.is_broken)
			return false;
		if (is_text(&name, key)) {
			*ret_value = reader;
			return true;
		}
		skip_value(&reader, 0);
	}
	return false;
}

/* Returns the number at KEY; UINT32_MAX when there is none, or when it is too large. */
static uint32_t find_number(const struct reader *map, const char *key)
{
	struct reader reader;
	struct value value;

	if (!find_key(map, key, &reader))
		return UINT32_MAX;
	value = read_value(&reader);
	return reader.is_broken || value.type != VALUE_NUMBER || value.number > UINT32_MAX
		       ? UINT32_MAX
		       : (uint32_t)value.number;
}

static struct value find_text(const struct reader *map, const char *key)
{
	struct reader reader;
	struct value value = {.type = VALUE_OTHER};

	if (!find_key(map, key, &reader))
		return value;
	value = read_value(&reader);
	return reader.is_broken ? (struct value){.type = VALUE_OTHER} : value;
}

/* Gives the position of the first element of the array at KEY, and the count of elements. Returns
 * false when there is no array. */
static bool find_array(const struct reader *map, const char *key, struct reader *ret_elements,
		       uint64_t *ret_count)
{
	struct value head;

	if (!find_key(map, key, ret_elements))
		return false;
	head = read_value(ret_elements);
	*ret_count = head.number;
	return head.type == VALUE_ARRAY && !ret_elements->is_broken;
}

/* Finds the metadata in the notes of one segment. Name and contents of a note are each padded to a
 * multiple of four bytes. */
static bool find_note(struct reader notes, struct reader *ret_metadata)
{
	while ((size_t)(notes.end - notes.at) >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr header;
		const uint8_t *name;
		const uint8_t *contents;

		memcpy(&header, notes.at, sizeof(header));
		skip_bytes(&notes, sizeof(header));
		name = notes.at;
		skip_bytes(&notes, ((uint64_t)header.n_namesz + 3) & ~3ull);
		contents = notes.at;
		skip_bytes(&notes, header.n_descsz);
		if (notes.is_broken)
			return false;
		if (header.n_type == NOTE_TYPE_METADATA && header.n_namesz == sizeof(NOTE_NAME) &&
		    memcmp(name, NOTE_NAME, sizeof(NOTE_NAME)) == 0) {
			*ret_metadata = (struct reader){.at = contents, .end = notes.at};
			return true;
		}
		skip_bytes(&notes, -(uint64_t)header.n_descsz & 3);
	}
	return false;
}

static bool find_metadata(const struct code_object *object, struct reader *ret_metadata)
{
	const uint8_t *bytes;
	size_t size;

	for (uint32_t i = 0; code_object_notes(object, i, &bytes, &size); i++) {
		const struct reader notes = {.at = bytes, .end = bytes + size};

		if (find_note(notes, ret_metadata))
			return true;
	}
	return false;
}

/* Calls back for COUNT arguments. READER is at the first element of their array. */
static int read_arguments(struct reader *reader, uint64_t count, metadata_argument_fn callback,
			  void *data)
{
	for (uint64_t i = 0; i < count; i++) {
		const struct value name = find_text(reader, ".name");
		const struct metadata_argument argument = {
			.name = name.type == VALUE_TEXT ? name.text : NULL,
			.name_length = name.type == VALUE_TEXT ? name.number : 0,
			.offset = find_number(reader, ".offset"),
			.bytes = find_number(reader, ".size"),
		};

		skip_value(reader, 0);
		if (reader->is_broken || argument.offset == UINT32_MAX ||
		    argument.bytes == UINT32_MAX)
			return -EINVAL;
		callback(&argument, data);
	}
	return 0;
}

int metadata_each_argument(const struct code_object *object, const char *symbol,
			   metadata_argument_fn callback, void *data)
{
	struct reader metadata, kernels, arguments;
	uint64_t kernel_count, argument_count;

	if (!find_metadata(object, &metadata))
		return -ENOENT;
	if (!find_array(&metadata, "amdhsa.kernels", &kernels, &kernel_count))
		return -EINVAL;
	for (uint64_t i = 0; i < kernel_count && !kernels.is_broken; i++) {
		const struct value name = find_text(&kernels, ".symbol");

		if (!is_text(&name, symbol)) {
			skip_value(&kernels, 0);
			continue;
		}
		/* A kernel without arguments may have no ".args". */
		if (!find_array(&kernels, ".args", &arguments, &argument_count))
			return 0;
		return read_arguments(&arguments, argument_count, callback, data);
	}
	return kernels.is_broken ? -EINVAL : -ENOENT;
}
