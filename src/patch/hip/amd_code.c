/* See amd_code.h. All reads are checked against the bounds, because the bytes come from outside. */
#include "patch/hip/amd_code.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { NOTE_METADATA = 32, MOST_NESTED = 16 };

/* ---- MessagePack, as far as the metadata uses it ---- */

struct pack {
	const uint8_t *at, *end;
	bool is_broken;
};

enum pack_type { PACK_SCALAR, PACK_NUMBER, PACK_TEXT, PACK_ARRAY, PACK_MAP };

/* COUNT is the value of a number, the bytes of a text, the elements of an array, or the pairs of a
 * map. */
struct pack_head {
	enum pack_type type;
	uint64_t count;
	const char *text;
};

static uint64_t take_number(struct pack *pack, uint32_t bytes)
{
	uint64_t number = 0;

	if ((size_t)(pack->end - pack->at) < bytes) {
		pack->is_broken = true;
		return 0;
	}
	while (bytes-- > 0)
		number = number << 8 | *pack->at++;
	return number;
}

static void take_bytes(struct pack *pack, uint64_t bytes)
{
	if ((uint64_t)(pack->end - pack->at) < bytes)
		pack->is_broken = true;
	else
		pack->at += bytes;
}

static struct pack_head text_head(struct pack *pack, uint64_t bytes)
{
	struct pack_head head = {PACK_TEXT, bytes, (const char *)pack->at};

	take_bytes(pack, bytes);
	return head;
}

/* Handles first bytes 0xc0 to 0xdf: for each type, its variants by length. */
static struct pack_head long_head(struct pack *pack, uint8_t first)
{
	static const uint8_t plain[] = {[0xca - 0xc0] = 4, [0xcb - 0xc0] = 8, [0xd4 - 0xc0] = 2,
					[0xd5 - 0xc0] = 3, [0xd6 - 0xc0] = 5, [0xd7 - 0xc0] = 9,
					[0xd8 - 0xc0] = 17};
	struct pack_head head = {.type = PACK_SCALAR};

	if (first >= 0xcc && first <= 0xd3) {
		head.type = PACK_NUMBER;
		head.count = take_number(pack, 1u << ((first - 0xcc) & 3));
	} else if (first >= 0xd9 && first <= 0xdb) {
		return text_head(pack, take_number(pack, 1u << (first - 0xd9)));
	} else if (first >= 0xdc) {
		head.type = first < 0xde ? PACK_ARRAY : PACK_MAP;
		head.count = take_number(pack, 2u << (first & 1));
	} else if (first >= 0xc4 && first <= 0xc6) {
		take_bytes(pack, take_number(pack, 1u << (first - 0xc4)));
	} else if (first >= 0xc7 && first <= 0xc9) {
		take_bytes(pack, take_number(pack, 1u << (first - 0xc7)) + 1);
	} else if ((size_t)(first - 0xc0) < sizeof(plain)) {
		take_bytes(pack, plain[first - 0xc0]);
	}
	return head;
}

static struct pack_head take_head(struct pack *pack)
{
	uint8_t first = (uint8_t)take_number(pack, 1);

	if (first < 0x80)
		return (struct pack_head){.type = PACK_NUMBER, .count = first};
	if (first < 0x90)
		return (struct pack_head){.type = PACK_MAP, .count = first & 15};
	if (first < 0xa0)
		return (struct pack_head){.type = PACK_ARRAY, .count = first & 15};
	if (first < 0xc0)
		return text_head(pack, first & 31);
	if (first < 0xe0)
		return long_head(pack, first);
	return (struct pack_head){.type = PACK_SCALAR};
}

static void skip_value(struct pack *pack, uint32_t depth)
{
	struct pack_head head = take_head(pack);
	uint64_t values = head.type == PACK_ARRAY ? head.count
			  : head.type == PACK_MAP ? head.count * 2
						  : 0;

	if (depth == MOST_NESTED)
		pack->is_broken = true;
	for (uint64_t i = 0; i < values && !pack->is_broken; i++)
		skip_value(pack, depth + 1);
}

static bool is_text(const struct pack_head *head, const char *text)
{
	return head->type == PACK_TEXT && head->count == strlen(text) &&
	       memcmp(head->text, text, head->count) == 0;
}

/* ---- amdhsa.kernels ---- */

static enum dagpatch_parameter_kind kind_of(const struct pack_head *head)
{
	if (is_text(head, "global_buffer") || is_text(head, "dynamic_shared_pointer"))
		return DAGPATCH_PARAMETER_POINTER;
	if (is_text(head, "by_value"))
		return DAGPATCH_PARAMETER_VALUE;
	if (head->type == PACK_TEXT && head->count >= 7 && memcmp(head->text, "hidden_", 7) == 0)
		return DAGPATCH_PARAMETER_HIDDEN;
	return DAGPATCH_PARAMETER_UNKNOWN;
}

static struct dagpatch_parameter take_parameter(struct pack *pack)
{
	struct dagpatch_parameter parameter = {0};
	struct pack_head map = take_head(pack);

	if (map.type != PACK_MAP)
		pack->is_broken = true;
	for (uint64_t i = 0; i < map.count && !pack->is_broken; i++) {
		struct pack_head key = take_head(pack), value;

		if (is_text(&key, ".offset")) {
			parameter.offset = (uint32_t)take_head(pack).count;
		} else if (is_text(&key, ".size")) {
			parameter.bytes = (uint32_t)take_head(pack).count;
		} else if (is_text(&key, ".value_kind")) {
			value = take_head(pack);
			parameter.kind = kind_of(&value);
		} else {
			skip_value(pack, 0);
		}
	}
	return parameter;
}

/* Reads one kernel, whose arguments may come before its name. 1: it is NAME. */
static int take_kernel(struct pack *pack, const char *name, struct pack *ret_arguments)
{
	struct pack_head map = take_head(pack);
	int is_wanted = 0;

	if (map.type != PACK_MAP)
		pack->is_broken = true;
	for (uint64_t i = 0; i < map.count && !pack->is_broken; i++) {
		struct pack_head key = take_head(pack), value;

		if (is_text(&key, ".name")) {
			value = take_head(pack);
			is_wanted = is_text(&value, name);
			continue;
		}
		if (is_text(&key, ".args"))
			*ret_arguments = *pack;
		skip_value(pack, 0);
	}
	return is_wanted && !pack->is_broken;
}

static int take_arguments(struct pack *pack, struct dagpatch_parameter *ret_parameters,
			  uint32_t capacity)
{
	struct pack_head array = {.type = PACK_ARRAY};
	uint32_t count = 0;

	if (pack->at) /* a kernel without arguments has no such array */
		array = take_head(pack);
	if (array.type != PACK_ARRAY)
		return -EINVAL;
	for (; count < array.count && !pack->is_broken; count++) {
		struct dagpatch_parameter parameter = take_parameter(pack);

		if (count < capacity)
			ret_parameters[count] = parameter;
	}
	return pack->is_broken || count > INT32_MAX ? -EINVAL : (int)count;
}

static int find_kernel(struct pack *pack, const char *name,
		       struct dagpatch_parameter *ret_parameters, uint32_t capacity)
{
	struct pack_head map = take_head(pack);

	if (map.type != PACK_MAP)
		return -EINVAL;
	for (uint64_t i = 0; i < map.count && !pack->is_broken; i++) {
		struct pack_head key = take_head(pack), kernels;

		if (!is_text(&key, "amdhsa.kernels")) {
			skip_value(pack, 0);
			continue;
		}
		kernels = take_head(pack);
		for (uint64_t j = 0; kernels.type == PACK_ARRAY && j < kernels.count; j++) {
			struct pack arguments = {0};

			if (take_kernel(pack, name, &arguments))
				return take_arguments(&arguments, ret_parameters, capacity);
			if (pack->is_broken)
				break;
		}
	}
	return pack->is_broken ? -EINVAL : -ENOENT;
}

/* ---- ELF ---- */

static bool is_inside(size_t size, uint64_t offset, uint64_t bytes)
{
	return offset <= size && bytes <= size - offset;
}

static int find_in_notes(const uint8_t *notes, uint64_t bytes, const char *name,
			 struct dagpatch_parameter *ret_parameters, uint32_t capacity)
{
	uint64_t at = 0;

	while (is_inside(bytes, at, sizeof(Elf64_Nhdr))) {
		Elf64_Nhdr note;
		uint64_t owner, text;

		memcpy(&note, notes + at, sizeof(note));
		owner = at + sizeof(note);
		text = owner + ((note.n_namesz + 3ull) & ~3ull);
		if (!is_inside(bytes, text, note.n_descsz))
			return -EINVAL;
		if (note.n_type == NOTE_METADATA && note.n_namesz >= 6 &&
		    memcmp(notes + owner, "AMDGPU", 6) == 0) {
			struct pack pack = {notes + text, notes + text + note.n_descsz, false};

			return find_kernel(&pack, name, ret_parameters, capacity);
		}
		at = text + ((note.n_descsz + 3ull) & ~3ull);
	}
	return -ENOENT;
}

int amd_code_parameters(const void *bytes, size_t size, const char *name,
			struct dagpatch_parameter *ret_parameters, uint32_t capacity)
{
	Elf64_Ehdr header;
	int err = -ENOENT;

	if (size < sizeof(header))
		return -EINVAL;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr) ||
	    !is_inside(size, header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr)))
		return -EINVAL;
	for (uint32_t i = 0; i < header.e_phnum && err == -ENOENT; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, (const uint8_t *)bytes + header.e_phoff + i * sizeof(segment),
		       sizeof(segment));
		if (segment.p_type != PT_NOTE)
			continue;
		if (!is_inside(size, segment.p_offset, segment.p_filesz))
			return -EINVAL;
		err = find_in_notes((const uint8_t *)bytes + segment.p_offset, segment.p_filesz,
				    name, ret_parameters, capacity);
	}
	return err;
}
