/* The reader of code objects (code_object.h): checks the file, reads its symbols and notes, and
 * compares its ISA. */
#include "softgpu/code_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/code_object_elf.h"

/* From the LLVM documentation "User Guide for AMDGPU Backend", sections ELF Code Object and Kernel
 * Descriptor. */
#define OSABI_AMDGPU_HSA	64
#define ABI_VERSION_MIN		1 /* code object version 3 */
#define ABI_VERSION_V4		2
#define ABI_VERSION_MAX		4 /* code object version 6 */
#define FLAG_MACH_MASK		0xffu
#define FLAG_XNACK_V3		0x100u
#define FLAG_XNACK_V4_MASK	0x300u
#define FLAG_XNACK_V4_OFF	0x200u
#define FLAG_XNACK_V4_ON	0x300u
#define FLAG_SRAMECC_V4_MASK	0xc00u
#define FLAG_SRAMECC_V4_OFF	0x800u
#define FLAG_SRAMECC_V4_ON	0xc00u
#define DESCRIPTOR_BYTES	64u
#define DESCRIPTOR_CODE_PROPS	56u
#define CODE_PROP_DYNAMIC_STACK 0x800u
#define PAGE_BYTES		4096ull
#define SPAN_MAX_BYTES		(1ull << 40)

static int check_header(const struct code_object *object, Elf64_Ehdr *ret_header)
{
	Elf64_Ehdr *header = ret_header;

	if (!elf_read_bytes(object, 0, header, sizeof(*header)))
		return -EINVAL;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_ident[EI_VERSION] != EV_CURRENT ||
	    header->e_ident[EI_OSABI] != OSABI_AMDGPU_HSA ||
	    header->e_ident[EI_ABIVERSION] < ABI_VERSION_MIN ||
	    header->e_ident[EI_ABIVERSION] > ABI_VERSION_MAX)
		return -EINVAL;
	if (header->e_machine != EM_AMDGPU || header->e_type != ET_DYN)
		return -EINVAL;
	/* The offsets are not larger than the buffer and the counts have 16 bits, so that sums of
	 * an offset and a table's size cannot overflow. */
	if (header->e_phoff > object->size || header->e_shoff > object->size ||
	    header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 ||
	    (header->e_shnum != 0 && header->e_shentsize != sizeof(Elf64_Shdr)))
		return -EINVAL;
	return 0;
}

static int read_span(struct code_object *object, const Elf64_Ehdr *header)
{
	uint64_t begin = UINT64_MAX;
	uint64_t end = 0;

	for (uint32_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		if (!elf_read_segment(object, header, i, &segment))
			return -EINVAL;
		if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
			continue;
		if (segment.p_filesz > segment.p_memsz || segment.p_memsz > SPAN_MAX_BYTES ||
		    segment.p_vaddr > SPAN_MAX_BYTES ||
		    !elf_range_inside(segment.p_offset, segment.p_filesz, 0, object->size))
			return -EINVAL;
		if (segment.p_vaddr < begin)
			begin = segment.p_vaddr;
		if (segment.p_vaddr + segment.p_memsz > end)
			end = segment.p_vaddr + segment.p_memsz;
	}
	if (begin >= end)
		return -EINVAL;
	object->begin = begin & ~(PAGE_BYTES - 1);
	object->end = (end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	return 0;
}

static bool ends_in(const char *string, const char *suffix)
{
	size_t length = strlen(string);
	size_t suffix_length = strlen(suffix);

	return length > suffix_length && strcmp(string + length - suffix_length, suffix) == 0;
}

/* Reads the kernel descriptor that SYMBOL names. */
static int read_kernel(const struct code_object *object, struct code_object_symbol *symbol)
{
	Elf64_Phdr segment;
	uint8_t descriptor[DESCRIPTOR_BYTES];
	uint16_t properties;

	if (symbol->bytes != DESCRIPTOR_BYTES ||
	    !elf_find_segment(object, symbol->address, DESCRIPTOR_BYTES, &segment) ||
	    !elf_range_inside(symbol->address, DESCRIPTOR_BYTES, segment.p_vaddr, segment.p_filesz))
		return -EINVAL;
	if (!elf_read_bytes(object, segment.p_offset + (symbol->address - segment.p_vaddr),
			    descriptor, sizeof(descriptor)))
		return -EINVAL;
	memcpy(&symbol->group_bytes, descriptor, sizeof(uint32_t));
	memcpy(&symbol->private_bytes, descriptor + 4, sizeof(uint32_t));
	memcpy(&symbol->kernarg_bytes, descriptor + 8, sizeof(uint32_t));
	memcpy(&properties, descriptor + DESCRIPTOR_CODE_PROPS, sizeof(properties));
	symbol->dynamic_stack = (properties & CODE_PROP_DYNAMIC_STACK) != 0;
	symbol->is_kernel = true;
	return 0;
}

/* Returns 1 and gives the symbol when ENTRY is a defined global kernel or variable; 0 for any other
 * entry; -EINVAL when ENTRY is invalid. */
static int read_symbol(const struct code_object *object, const Elf64_Ehdr *header,
		       const Elf64_Shdr *strings, const Elf64_Sym *entry,
		       struct code_object_symbol *ret_symbol)
{
	struct code_object_symbol symbol = {.address = entry->st_value, .bytes = entry->st_size};
	Elf64_Phdr segment;
	Elf64_Shdr section;

	if (ELF64_ST_TYPE(entry->st_info) != STT_OBJECT || entry->st_shndx == SHN_UNDEF ||
	    ELF64_ST_BIND(entry->st_info) == STB_LOCAL)
		return 0;
	symbol.name = elf_read_name(object, strings, entry->st_name);
	if (!symbol.name || !elf_find_segment(object, symbol.address, symbol.bytes, &segment))
		return -EINVAL;
	symbol.is_const = (segment.p_flags & PF_W) == 0;
	symbol.alignment = 1;
	if (elf_read_section(object, header, entry->st_shndx, &section) &&
	    section.sh_addralign > 0 && section.sh_addralign <= PAGE_BYTES)
		symbol.alignment = (uint32_t)section.sh_addralign;
	if (ends_in(symbol.name, ".kd") && read_kernel(object, &symbol) < 0)
		return -EINVAL;
	*ret_symbol = symbol;
	return 1;
}

static int read_symbol_table(struct code_object *object, const Elf64_Ehdr *header,
			     const Elf64_Shdr *table)
{
	uint64_t count = table->sh_size / sizeof(Elf64_Sym);
	Elf64_Shdr strings;
	int err = elf_check_symbol_table(object, header, table, &strings);

	if (err < 0)
		return err;
	/* Only one table is supported: a second one would have to be appended. */
	if (object->symbols)
		return -EINVAL;
	object->symbols = calloc(count + 1, sizeof(*object->symbols));
	if (!object->symbols)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Sym entry;
		int kept;

		if (!elf_read_bytes(object, table->sh_offset + i * sizeof(entry), &entry,
				    sizeof(entry)))
			return -EINVAL;
		kept = read_symbol(object, header, &strings, &entry,
				   &object->symbols[object->symbol_count]);
		if (kept < 0)
			return kept;
		object->symbol_count += (size_t)kept;
	}
	return 0;
}

static int read_symbols(struct code_object *object, const Elf64_Ehdr *header)
{
	for (uint32_t i = 0; i < header->e_shnum; i++) {
		Elf64_Shdr section;
		int err;

		if (!elf_read_section(object, header, i, &section))
			return -EINVAL;
		if (section.sh_type != SHT_DYNSYM)
			continue;
		err = read_symbol_table(object, header, &section);
		if (err < 0)
			return err;
	}
	return 0;
}

int code_object_parse(const void *bytes, size_t size, struct code_object *ret_object)
{
	struct code_object object = {.bytes = bytes, .size = size};
	Elf64_Ehdr header;
	int err = check_header(&object, &header);

	if (err < 0)
		return err;
	object.flags = header.e_flags;
	object.abi_version = header.e_ident[EI_ABIVERSION];
	err = read_span(&object, &header);
	if (err == 0)
		err = read_symbols(&object, &header);
	if (err < 0) {
		code_object_release(&object);
		return err;
	}
	*ret_object = object;
	return 0;
}

void code_object_release(struct code_object *object)
{
	if (!object)
		return;
	free(object->symbols);
	object->symbols = NULL;
	object->symbol_count = 0;
}

bool code_object_notes(const struct code_object *object, uint32_t index, const uint8_t **ret_bytes,
		       size_t *ret_size)
{
	Elf64_Ehdr header;

	elf_read_header(object, &header);
	for (uint32_t i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		if (!elf_read_segment(object, &header, i, &segment) || segment.p_type != PT_NOTE ||
		    !elf_range_inside(segment.p_offset, segment.p_filesz, 0, object->size))
			continue;
		if (index-- > 0)
			continue;
		*ret_bytes = object->bytes + segment.p_offset;
		*ret_size = segment.p_filesz;
		return true;
	}
	return false;
}

/* The EF_AMDGPU_MACH values of the ISAs that the software GPU can have. */
static const struct {
	uint32_t mach;
	const char *name;
} machs[] = {
	{0x2f, "gfx906"},
	{0x3f, "gfx90a"},
	{0x4c, "gfx942"},
	{0x36, "gfx1030"},
};

/* Returns whether a feature of the code object (VALUE) agrees with the ISA's name. A value other
 * than OFF and ON means that the code runs with both. */
static bool feature_matches(uint32_t value, uint32_t off, uint32_t on, const char *isa,
			    const char *name_off, const char *name_on)
{
	if (value == off)
		return strstr(isa, name_on) == NULL;
	if (value == on)
		return strstr(isa, name_off) == NULL;
	return true;
}

bool code_object_matches_isa(const struct code_object *object, const char *isa)
{
	const char *processor = strstr(isa, "--");
	uint32_t flags = object->flags;
	size_t length;

	if (!processor)
		return false;
	processor += 2;
	length = strcspn(processor, ":");
	for (size_t i = 0; i < sizeof(machs) / sizeof(machs[0]); i++) {
		if (machs[i].mach != (flags & FLAG_MACH_MASK))
			continue;
		if (strlen(machs[i].name) != length ||
		    strncmp(machs[i].name, processor, length) != 0)
			return false;
		if (object->abi_version < ABI_VERSION_V4)
			return !(flags & FLAG_XNACK_V3) || strstr(isa, ":xnack-") == NULL;
		return feature_matches(flags & FLAG_XNACK_V4_MASK, FLAG_XNACK_V4_OFF,
				       FLAG_XNACK_V4_ON, isa, ":xnack-", ":xnack+") &&
		       feature_matches(flags & FLAG_SRAMECC_V4_MASK, FLAG_SRAMECC_V4_OFF,
				       FLAG_SRAMECC_V4_ON, isa, ":sramecc-", ":sramecc+");
	}
	return false;
}
