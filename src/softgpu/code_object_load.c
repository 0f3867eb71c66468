/* Loading of code objects (code_object.h): copies the segments and applies the relocations. */
#include <errno.h>
#include <string.h>

#include "softgpu/code_object.h"
#include "softgpu/code_object_elf.h"

/* From the LLVM documentation "User Guide for AMDGPU Backend", section Relocation Records. */
enum amdgpu_relocation {
	R_AMDGPU_NONE = 0,
	R_AMDGPU_ABS32_LO = 1,
	R_AMDGPU_ABS32_HI = 2,
	R_AMDGPU_ABS64 = 3,
	R_AMDGPU_REL32 = 4,
	R_AMDGPU_REL64 = 5,
	R_AMDGPU_ABS32 = 6,
	R_AMDGPU_REL32_LO = 10,
	R_AMDGPU_REL32_HI = 11,
	R_AMDGPU_RELATIVE64 = 13,
};

/* The arguments of code_object_load. */
struct loader {
	const struct code_object *object;
	uint8_t *image;
	uint64_t load_address;
	code_object_resolve_fn resolve;
	void *resolve_data;
};

static void copy_segments(const struct loader *loader, const Elf64_Ehdr *header)
{
	const struct code_object *object = loader->object;

	for (uint32_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		if (!elf_read_segment(object, header, i, &segment) || segment.p_type != PT_LOAD ||
		    segment.p_memsz == 0)
			continue;
		memcpy(loader->image + (segment.p_vaddr - object->begin),
		       object->bytes + segment.p_offset, segment.p_filesz);
	}
}

/* Gives the run-time address of the symbol that a relocation refers to. An undefined weak symbol is
 * 0. */
static int resolve_symbol(const struct loader *loader, const Elf64_Ehdr *header,
			  const Elf64_Shdr *table, uint64_t index, uint64_t *ret_address)
{
	const struct code_object *object = loader->object;
	Elf64_Shdr strings;
	Elf64_Sym entry;
	const char *name;

	if (index == 0) {
		*ret_address = 0;
		return 0;
	}
	if (elf_check_symbol_table(object, header, table, &strings) < 0 ||
	    index >= table->sh_size / sizeof(entry) ||
	    !elf_read_bytes(object, table->sh_offset + index * sizeof(entry), &entry,
			    sizeof(entry)))
		return -EINVAL;
	if (entry.st_shndx != SHN_UNDEF) {
		*ret_address = entry.st_value;
		if (entry.st_shndx != SHN_ABS)
			*ret_address += loader->load_address - object->begin;
		return 0;
	}
	name = elf_read_name(object, &strings, entry.st_name);
	if (!name)
		return -EINVAL;
	if (loader->resolve && loader->resolve(name, loader->resolve_data, ret_address))
		return 0;
	if (ELF64_ST_BIND(entry.st_info) != STB_WEAK)
		return -ENOENT;
	*ret_address = 0;
	return 0;
}

/* Returns how many bytes a relocation of TYPE changes; 0 for an unknown type. */
static uint32_t relocation_bytes(uint32_t type)
{
	switch (type) {
	case R_AMDGPU_ABS64:
	case R_AMDGPU_REL64:
	case R_AMDGPU_RELATIVE64:
		return 8;
	case R_AMDGPU_ABS32:
	case R_AMDGPU_ABS32_LO:
	case R_AMDGPU_ABS32_HI:
	case R_AMDGPU_REL32:
	case R_AMDGPU_REL32_LO:
	case R_AMDGPU_REL32_HI:
		return 4;
	default:
		return 0;
	}
}

static uint64_t relocation_value(uint32_t type, uint64_t value, uint64_t place, uint64_t delta)
{
	switch (type) {
	case R_AMDGPU_RELATIVE64:
		return delta + value;
	case R_AMDGPU_ABS32_HI:
		return value >> 32;
	case R_AMDGPU_REL32:
	case R_AMDGPU_REL64:
	case R_AMDGPU_REL32_LO:
		return value - place;
	case R_AMDGPU_REL32_HI:
		return (value - place) >> 32;
	default:
		return value;
	}
}

static int apply_relocation(const struct loader *loader, const Elf64_Ehdr *header,
			    const Elf64_Shdr *symbols, const Elf64_Rela *entry)
{
	const struct code_object *object = loader->object;
	uint64_t delta = loader->load_address - object->begin;
	uint32_t type = ELF64_R_TYPE(entry->r_info);
	uint32_t bytes = relocation_bytes(type);
	Elf64_Phdr segment;
	uint64_t address = 0;
	uint64_t value;
	int err = 0;

	if (type == R_AMDGPU_NONE)
		return 0;
	if (bytes == 0 || !elf_find_segment(object, entry->r_offset, bytes, &segment))
		return -EINVAL;
	if (type != R_AMDGPU_RELATIVE64)
		err = resolve_symbol(loader, header, symbols, ELF64_R_SYM(entry->r_info), &address);
	if (err < 0)
		return err;
	value = relocation_value(type, address + (uint64_t)entry->r_addend, delta + entry->r_offset,
				 delta);
	/* Host and device are little endian, so the low bytes come first. */
	memcpy(loader->image + (entry->r_offset - object->begin), &value, bytes);
	return 0;
}

static int apply_section(const struct loader *loader, const Elf64_Ehdr *header,
			 const Elf64_Shdr *section)
{
	const struct code_object *object = loader->object;
	uint64_t count = section->sh_size / sizeof(Elf64_Rela);
	Elf64_Shdr symbols;

	if (!elf_check_table(object, section, sizeof(Elf64_Rela)) ||
	    !elf_read_section(object, header, section->sh_link, &symbols))
		return -EINVAL;
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Rela entry;
		int err;

		if (!elf_read_bytes(object, section->sh_offset + i * sizeof(entry), &entry,
				    sizeof(entry)))
			return -EINVAL;
		err = apply_relocation(loader, header, &symbols, &entry);
		if (err < 0)
			return err;
	}
	return 0;
}

int code_object_load(const struct code_object *object, void *image, uint64_t load_address,
		     code_object_resolve_fn resolve, void *resolve_data)
{
	const struct loader loader = {object, image, load_address, resolve, resolve_data};
	Elf64_Ehdr header;

	elf_read_header(object, &header);
	copy_segments(&loader, &header);
	for (uint32_t i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr section;
		int err;

		if (!elf_read_section(object, &header, i, &section))
			return -EINVAL;
		if (section.sh_type != SHT_RELA || !(section.sh_flags & SHF_ALLOC))
			continue;
		err = apply_section(&loader, &header, &section);
		if (err < 0)
			return err;
	}
	return 0;
}
