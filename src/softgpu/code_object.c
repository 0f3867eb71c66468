/* The reader of code objects (code_object.h). */
#include "softgpu/code_object.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* From the LLVM documentation "User Guide for AMDGPU Backend", sections ELF Code Object,
 * Relocation Records and Kernel Descriptor. */
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

/* Copies BYTES at OFFSET to RET. The buffer may be unaligned, so all headers are copied before use.
 * Returns false when the bytes are not all in the buffer. */
static bool read_bytes(const struct code_object *object, uint64_t offset, void *ret, size_t bytes)
{
	if (offset > object->size || bytes > object->size - offset)
		return false;
	memcpy(ret, object->bytes + offset, bytes);
	return true;
}

/* Returns whether the first range is all inside the outer one; safe against overflow. */
static bool range_inside(uint64_t begin, uint64_t bytes, uint64_t outer_begin, uint64_t outer_bytes)
{
	return begin >= outer_begin && begin - outer_begin <= outer_bytes &&
	       bytes <= outer_bytes - (begin - outer_begin);
}

static void read_header(const struct code_object *object, Elf64_Ehdr *ret_header)
{
	memcpy(ret_header, object->bytes, sizeof(*ret_header));
}

static bool read_segment(const struct code_object *object, const Elf64_Ehdr *header, uint32_t index,
			 Elf64_Phdr *ret_segment)
{
	return read_bytes(object, header->e_phoff + (uint64_t)index * sizeof(*ret_segment),
			  ret_segment, sizeof(*ret_segment));
}

static bool read_section(const struct code_object *object, const Elf64_Ehdr *header, uint32_t index,
			 Elf64_Shdr *ret_section)
{
	if (index >= header->e_shnum)
		return false;
	return read_bytes(object, header->e_shoff + (uint64_t)index * sizeof(*ret_section),
			  ret_section, sizeof(*ret_section));
}

static int check_header(const struct code_object *object, Elf64_Ehdr *ret_header)
{
	Elf64_Ehdr *header = ret_header;

	if (!read_bytes(object, 0, header, sizeof(*header)))
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

		if (!read_segment(object, header, i, &segment))
			return -EINVAL;
		if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
			continue;
		if (segment.p_filesz > segment.p_memsz || segment.p_memsz > SPAN_MAX_BYTES ||
		    segment.p_vaddr > SPAN_MAX_BYTES ||
		    !range_inside(segment.p_offset, segment.p_filesz, 0, object->size))
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

/* Gives the loadable segment that contains all BYTES at ADDRESS. Returns false when there is
 * none. */
static bool find_segment(const struct code_object *object, uint64_t address, uint64_t bytes,
			 Elf64_Phdr *ret_segment)
{
	Elf64_Ehdr header;

	read_header(object, &header);
	for (uint32_t i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		if (!read_segment(object, &header, i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (range_inside(address, bytes, segment.p_vaddr, segment.p_memsz)) {
			*ret_segment = segment;
			return true;
		}
	}
	return false;
}

/* Returns the name at OFFSET of a string table; NULL when it has no end. */
static const char *read_name(const struct code_object *object, const Elf64_Shdr *strings,
			     uint32_t offset)
{
	const uint8_t *name;

	if (offset >= strings->sh_size)
		return NULL;
	name = object->bytes + strings->sh_offset + offset;
	return memchr(name, '\0', strings->sh_size - offset) ? (const char *)name : NULL;
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
	    !find_segment(object, symbol->address, DESCRIPTOR_BYTES, &segment) ||
	    !range_inside(symbol->address, DESCRIPTOR_BYTES, segment.p_vaddr, segment.p_filesz))
		return -EINVAL;
	if (!read_bytes(object, segment.p_offset + (symbol->address - segment.p_vaddr), descriptor,
			sizeof(descriptor)))
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
	symbol.name = read_name(object, strings, entry->st_name);
	if (!symbol.name || !find_segment(object, symbol.address, symbol.bytes, &segment))
		return -EINVAL;
	symbol.is_const = (segment.p_flags & PF_W) == 0;
	symbol.alignment = 1;
	if (read_section(object, header, entry->st_shndx, &section) && section.sh_addralign > 0 &&
	    section.sh_addralign <= PAGE_BYTES)
		symbol.alignment = (uint32_t)section.sh_addralign;
	if (ends_in(symbol.name, ".kd") && read_kernel(object, &symbol) < 0)
		return -EINVAL;
	*ret_symbol = symbol;
	return 1;
}

static bool check_table(const struct code_object *object, const Elf64_Shdr *section,
			uint64_t entry_bytes)
{
	return section->sh_entsize == entry_bytes &&
	       range_inside(section->sh_offset, section->sh_size, 0, object->size);
}

/* Checks a symbol table section and its string table, which it gives. */
static int check_symbol_table(const struct code_object *object, const Elf64_Ehdr *header,
			      const Elf64_Shdr *table, Elf64_Shdr *ret_strings)
{
	Elf64_Shdr strings;

	if (!check_table(object, table, sizeof(Elf64_Sym)) ||
	    !read_section(object, header, table->sh_link, &strings) ||
	    strings.sh_type != SHT_STRTAB ||
	    !range_inside(strings.sh_offset, strings.sh_size, 0, object->size))
		return -EINVAL;
	*ret_strings = strings;
	return 0;
}

static int read_symbol_table(struct code_object *object, const Elf64_Ehdr *header,
			     const Elf64_Shdr *table)
{
	uint64_t count = table->sh_size / sizeof(Elf64_Sym);
	Elf64_Shdr strings;
	int err = check_symbol_table(object, header, table, &strings);

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

		if (!read_bytes(object, table->sh_offset + i * sizeof(entry), &entry,
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

		if (!read_section(object, header, i, &section))
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

	read_header(object, &header);
	for (uint32_t i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		if (!read_segment(object, &header, i, &segment) || segment.p_type != PT_NOTE ||
		    !range_inside(segment.p_offset, segment.p_filesz, 0, object->size))
			continue;
		if (index-- > 0)
			continue;
		*ret_bytes = object->bytes + segment.p_offset;
		*ret_size = segment.p_filesz;
		return true;
	}
	return false;
}

static void copy_segments(const struct loader *loader, const Elf64_Ehdr *header)
{
	const struct code_object *object = loader->object;

	for (uint32_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		if (!read_segment(object, header, i, &segment) || segment.p_type != PT_LOAD ||
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
	if (check_symbol_table(object, header, table, &strings) < 0 ||
	    index >= table->sh_size / sizeof(entry) ||
	    !read_bytes(object, table->sh_offset + index * sizeof(entry), &entry, sizeof(entry)))
		return -EINVAL;
	if (entry.st_shndx != SHN_UNDEF) {
		*ret_address = entry.st_value;
		if (entry.st_shndx != SHN_ABS)
			*ret_address += loader->load_address - object->begin;
		return 0;
	}
	name = read_name(object, &strings, entry.st_name);
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
	if (bytes == 0 || !find_segment(object, entry->r_offset, bytes, &segment))
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

	if (!check_table(object, section, sizeof(Elf64_Rela)) ||
	    !read_section(object, header, section->sh_link, &symbols))
		return -EINVAL;
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Rela entry;
		int err;

		if (!read_bytes(object, section->sh_offset + i * sizeof(entry), &entry,
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

	read_header(object, &header);
	copy_segments(&loader, &header);
	for (uint32_t i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr section;
		int err;

		if (!read_section(object, &header, i, &section))
			return -EINVAL;
		if (section.sh_type != SHT_RELA || !(section.sh_flags & SHF_ALLOC))
			continue;
		err = apply_section(&loader, &header, &section);
		if (err < 0)
			return err;
	}
	return 0;
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
