/* Bounded reading of a code object's ELF file (code_object_elf.h). */
#include "softgpu/code_object_elf.h"

#include <errno.h>
#include <string.h>

bool elf_read_bytes(const struct code_object *object, uint64_t offset, void *ret, size_t bytes)
{
	if (offset > object->size || bytes > object->size - offset)
		return false;
	memcpy(ret, object->bytes + offset, bytes);
	return true;
}

bool elf_range_inside(uint64_t begin, uint64_t bytes, uint64_t outer_begin, uint64_t outer_bytes)
{
	return begin >= outer_begin && begin - outer_begin <= outer_bytes &&
	       bytes <= outer_bytes - (begin - outer_begin);
}

void elf_read_header(const struct code_object *object, Elf64_Ehdr *ret_header)
{
	memcpy(ret_header, object->bytes, sizeof(*ret_header));
}

bool elf_read_segment(const struct code_object *object, const Elf64_Ehdr *header, uint32_t index,
		      Elf64_Phdr *ret_segment)
{
	return elf_read_bytes(object, header->e_phoff + (uint64_t)index * sizeof(*ret_segment),
			      ret_segment, sizeof(*ret_segment));
}

bool elf_read_section(const struct code_object *object, const Elf64_Ehdr *header, uint32_t index,
		      Elf64_Shdr *ret_section)
{
	if (index >= header->e_shnum)
		return false;
	return elf_read_bytes(object, header->e_shoff + (uint64_t)index * sizeof(*ret_section),
			      ret_section, sizeof(*ret_section));
}

bool elf_find_segment(const struct code_object *object, uint64_t address, uint64_t bytes,
		      Elf64_Phdr *ret_segment)
{
	Elf64_Ehdr header;

	elf_read_header(object, &header);
	for (uint32_t i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		if (!elf_read_segment(object, &header, i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (elf_range_inside(address, bytes, segment.p_vaddr, segment.p_memsz)) {
			*ret_segment = segment;
			return true;
		}
	}
	return false;
}

const char *elf_read_name(const struct code_object *object, const Elf64_Shdr *strings,
			  uint32_t offset)
{
	const uint8_t *name;

	if (offset >= strings->sh_size)
		return NULL;
	name = object->bytes + strings->sh_offset + offset;
	return memchr(name, '\0', strings->sh_size - offset) ? (const char *)name : NULL;
}

bool elf_check_table(const struct code_object *object, const Elf64_Shdr *section,
		     uint64_t entry_bytes)
{
	return section->sh_entsize == entry_bytes &&
	       elf_range_inside(section->sh_offset, section->sh_size, 0, object->size);
}

int elf_check_symbol_table(const struct code_object *object, const Elf64_Ehdr *header,
			   const Elf64_Shdr *table, Elf64_Shdr *ret_strings)
{
	Elf64_Shdr strings;

	if (!elf_check_table(object, table, sizeof(Elf64_Sym)) ||
	    !elf_read_section(object, header, table->sh_link, &strings) ||
	    strings.sh_type != SHT_STRTAB ||
	    !elf_range_inside(strings.sh_offset, strings.sh_size, 0, object->size))
		return -EINVAL;
	*ret_strings = strings;
	return 0;
}
