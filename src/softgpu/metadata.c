/* Finds the arguments of a kernel in a code object's note (metadata.h). */
#include "softgpu/metadata.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/msgpack.h"

#define NOTE_NAME	   "AMDGPU"
#define NOTE_TYPE_METADATA 32

/* Returns the number at KEY; UINT32_MAX when there is none, or when it is too large. */
static uint32_t find_number(const struct msgpack *map, const char *key)
{
	struct msgpack reader;
	struct msgpack_value value;

	if (!msgpack_find(map, key, &reader))
		return UINT32_MAX;
	value = msgpack_take(&reader);
	return reader.is_broken || value.type != MSGPACK_NUMBER || value.number > UINT32_MAX
		       ? UINT32_MAX
		       : (uint32_t)value.number;
}

static struct msgpack_value find_text(const struct msgpack *map, const char *key)
{
	struct msgpack reader;
	struct msgpack_value value = {.type = MSGPACK_OTHER};

	if (!msgpack_find(map, key, &reader))
		return value;
	value = msgpack_take(&reader);
	return reader.is_broken ? (struct msgpack_value){.type = MSGPACK_OTHER} : value;
}

/* Gives the position of the first element of the array at KEY, and the count of elements. Returns
 * false when there is no array. */
static bool find_array(const struct msgpack *map, const char *key, struct msgpack *ret_elements,
		       uint64_t *ret_count)
{
	struct msgpack_value head;

	if (!msgpack_find(map, key, ret_elements))
		return false;
	head = msgpack_take(ret_elements);
	*ret_count = head.number;
	return head.type == MSGPACK_ARRAY && !ret_elements->is_broken;
}

/* Finds the metadata in the notes of one segment. Name and contents of a note are each padded to a
 * multiple of four bytes. */
static bool find_note(const uint8_t *at, const uint8_t *end, struct msgpack *ret_metadata)
{
	while ((size_t)(end - at) >= sizeof(Elf64_Nhdr)) {
		const uint8_t *name = at + sizeof(Elf64_Nhdr), *contents;
		uint64_t name_bytes, bytes;
		Elf64_Nhdr header;

		memcpy(&header, at, sizeof(header));
		name_bytes = (header.n_namesz + 3ull) & ~3ull;
		bytes = (header.n_descsz + 3ull) & ~3ull;
		if (name_bytes + header.n_descsz > (uint64_t)(end - name))
			return false;
		contents = name + name_bytes;
		if (header.n_type == NOTE_TYPE_METADATA && header.n_namesz == sizeof(NOTE_NAME) &&
		    memcmp(name, NOTE_NAME, sizeof(NOTE_NAME)) == 0) {
			*ret_metadata =
				(struct msgpack){contents, contents + header.n_descsz, false};
			return true;
		}
		if (bytes > (uint64_t)(end - contents))
			return false;
		at = contents + bytes;
	}
	return false;
}

static bool find_metadata(const struct code_object *object, struct msgpack *ret_metadata)
{
	const uint8_t *bytes;
	size_t size;

	for (uint32_t i = 0; code_object_notes(object, i, &bytes, &size); i++) {
		if (find_note(bytes, bytes + size, ret_metadata))
			return true;
	}
	return false;
}

/* Calls back for COUNT arguments. READER is at the first element of their array. */
static int read_arguments(struct msgpack *reader, uint64_t count, metadata_argument_fn callback,
			  void *data)
{
	for (uint64_t i = 0; i < count; i++) {
		const struct msgpack_value name = find_text(reader, ".name");
		const struct metadata_argument argument = {
			.name = name.type == MSGPACK_TEXT ? name.text : NULL,
			.name_length = name.type == MSGPACK_TEXT ? name.number : 0,
			.offset = find_number(reader, ".offset"),
			.bytes = find_number(reader, ".size"),
		};

		msgpack_skip(reader);
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
	struct msgpack metadata, kernels, arguments;
	uint64_t kernel_count, argument_count;

	if (!find_metadata(object, &metadata))
		return -ENOENT;
	if (!find_array(&metadata, "amdhsa.kernels", &kernels, &kernel_count))
		return -EINVAL;
	for (uint64_t i = 0; i < kernel_count && !kernels.is_broken; i++) {
		const struct msgpack_value name = find_text(&kernels, ".symbol");

		if (!msgpack_is_text(&name, symbol)) {
			msgpack_skip(&kernels);
			continue;
		}
		/* A kernel without arguments may have no ".args". */
		if (!find_array(&kernels, ".args", &arguments, &argument_count))
			return 0;
		return read_arguments(&arguments, argument_count, callback, data);
	}
	return kernels.is_broken ? -EINVAL : -ENOENT;
}
