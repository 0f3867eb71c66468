/* Reading of the ELF file in a code object: headers, segments, sections and names. The buffer may
 * hold any bytes: each of these functions checks every offset and size that it uses. Threading: any
 * thread. */
#ifndef SOFTGPU_CODE_OBJECT_ELF_H
#define SOFTGPU_CODE_OBJECT_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/code_object.h"

/* Copies BYTES at OFFSET to RET. The buffer may be unaligned, so all headers are copied before use.
 * Returns false when the bytes are not all in the buffer. */
bool elf_read_bytes(const struct code_object *object, uint64_t offset, void *ret, size_t bytes);

/* Returns whether the first range is all inside the outer one; safe against overflow. */
bool elf_range_inside(uint64_t begin, uint64_t bytes, uint64_t outer_begin, uint64_t outer_bytes);

/* Gives the header of an object that code_object_parse has checked. */
void elf_read_header(const struct code_object *object, Elf64_Ehdr *ret_header);

/* Give the segment or the section with this index. Return false when it is not in the buffer. */
bool elf_read_segment(const struct code_object *object, const Elf64_Ehdr *header, uint32_t index,
		      Elf64_Phdr *ret_segment);
bool elf_read_section(const struct code_object *object, const Elf64_Ehdr *header, uint32_t index,
		      Elf64_Shdr *ret_section);

/* Gives the loadable segment that contains all BYTES at ADDRESS. Returns false when there is
 * none. */
bool elf_find_segment(const struct code_object *object, uint64_t address, uint64_t bytes,
		      Elf64_Phdr *ret_segment);

/* Returns the name at OFFSET of a string table that elf_check_symbol_table gave; NULL when it has
 * no end. */
const char *elf_read_name(const struct code_object *object, const Elf64_Shdr *strings,
			  uint32_t offset);

/* Returns whether the section's entries have ENTRY_BYTES and are all in the buffer. */
bool elf_check_table(const struct code_object *object, const Elf64_Shdr *section,
		     uint64_t entry_bytes);

/* Checks a symbol table section and its string table, which it gives. Returns 0 or -EINVAL. */
int elf_check_symbol_table(const struct code_object *object, const Elf64_Ehdr *header,
			   const Elf64_Shdr *table, Elf64_Shdr *ret_strings);

#endif
