/*
 * Counts a program's calls of HIP and RCCL, as a witness that shares no code with dagtap: an audit
 * library of the dynamic loader (rtld-audit(7); glibc 2.35 or newer, x86-64).
 *
 * LD_AUDIT=.../libcall-counter.so CALL_COUNTS=FILE program
 *
 * When a library binds a function whose name begins with hip, __hip or nccl (or is the C++ name of
 * such a function), by relocation or by dlsym, it gets the address of a trampoline instead, which
 * adds 1 to a counter and jumps to the function without changing a register. What dagtap binds is
 * not counted, nor what the function's own library binds. A call through a pointer from another
 * source is not counted: from a dispatch table, or one that the library hands out
 * (hipGetProcAddress).
 *
 * A process that binds such a function has a file FILE.PID with a record of RECORD_BYTES for each
 * function, calling library and defining library: the count as a 64-bit number, then
 * "name\tcaller\tdefiner\n" and zeroes. The first record is "#process\tPID\t\n"; its count is the
 * number of functions that could not be counted, and must be 0. call_counts.py prints the file as
 * text.
 *
 * The file is mapped shared, so it is complete however the process ends. In a forked child the
 * kernel wipes one page; the first trampoline that finds it wiped creates the child's own file.
 *
 * The library has its own copy of the C library in its own namespace. Several threads may bind at
 * once.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define TOOL		 "libdagtap-inject.so"
#define MAX_RECORDS	 4096
#define RECORD_BYTES	 256
#define TRAMPOLINE_BYTES 48
#define PAGE_BYTES	 4096
#define MAX_OBJECTS	 4096
#define MAX_NAME_BYTES	 64
#define MAX_FILES	 1000 /* with the same process id */

#define AUDIT_API __attribute__((visibility("default")))

/* The layout in the file. */
struct record {
	_Atomic uint64_t count;
	char text[RECORD_BYTES - sizeof(uint64_t)];
};

/* The process that the records belong to. */
enum owner {
	OWNER_PARENT, /* the value in a wiped page */
	OWNER_THIS,
	OWNER_CHANGES, /* a thread of the child is changing the owner */
};

/* One mapping, so that trampolines reach all of it relative to their own address. */
struct area {
	_Alignas(PAGE_BYTES) struct record records[MAX_RECORDS]; /* the file */
	_Alignas(PAGE_BYTES) uint8_t code[MAX_RECORDS][TRAMPOLINE_BYTES];
	_Alignas(PAGE_BYTES) _Atomic uint8_t owner; /* an enum owner; the kernel wipes it on fork */
};

/* A loaded object; its cookie points here. */
struct object {
	bool is_open;
	bool is_tool;
	char name[MAX_NAME_BYTES];
};

static struct area *area;
static uint32_t record_count = 1; /* record 0 is the process's */
static uint64_t uncounted;	  /* counted before the area existed */
static struct object objects[MAX_OBJECTS];
static _Atomic bool is_locked;

static void lock(void)
{
	while (atomic_exchange(&is_locked, true))
		__builtin_ia32_pause();
}

static void unlock(void)
{
	atomic_store(&is_locked, false);
}

/* ---- the file ---- */

/* Never opens an existing file: it belongs to a process that then called exec. */
static int make_file(const char *prefix)
{
	char path[PAGE_BYTES];
	int file = -1;

	for (int number = 0; file < 0 && number < MAX_FILES; number++) {
		int length = snprintf(path, sizeof(path), "%s.%d", prefix, (int)getpid());

		if (number)
			snprintf(path + length, sizeof(path) - (size_t)length, ".%d", number);
		file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	if (file >= 0 && posix_fallocate(file, 0, sizeof(area->records))) {
		close(file);
		file = -1;
	}
	return file;
}

/* Maps empty records over the present ones: a new file, or memory if no file can be made. */
static void map_records(void)
{
	const char *prefix = getenv("CALL_COUNTS");
	int file = prefix ? make_file(prefix) : -1;
	void *map =
		mmap(area->records, sizeof(area->records), PROT_READ | PROT_WRITE,
		     MAP_FIXED | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), file, 0);

	if (map == MAP_FAILED)
		abort();
	if (file >= 0)
		close(file);
	snprintf(area->records[0].text, sizeof(area->records[0].text), "#process\t%d\t\n",
		 (int)getpid());
	atomic_store(&area->records[0].count, uncounted);
}

static bool make_area(void)
{
	struct area *made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		return false;
	if (mprotect(made->code, sizeof(made->code), PROT_READ | PROT_WRITE | PROT_EXEC) ||
	    madvise((void *)&made->owner, PAGE_BYTES, MADV_WIPEONFORK)) {
		munmap(made, sizeof(*made));
		return false;
	}
	area = made;
	map_records();
	atomic_store(&area->owner, OWNER_THIS);
	return true;
}

/*
 * Runs in a forked child: maps the same records in a new file with counts of 0. A lock that is held
 * belongs to a thread that the child does not have.
 */
static void make_own(void)
{
	struct record *parents = mmap(NULL, sizeof(area->records), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	unlock();
	if (parents == MAP_FAILED)
		abort();
	memcpy(parents, area->records, sizeof(area->records));
	map_records();
	for (uint32_t i = 1; i < record_count; i++)
		memcpy(area->records[i].text, parents[i].text, sizeof(parents[i].text));
	munmap(parents, sizeof(area->records));
	atomic_store(&area->owner, OWNER_THIS);
}

/* Returns when the records are this process's. The first thread that calls it makes them so. */
static void own_records(void)
{
	uint8_t parent = OWNER_PARENT;

	if (atomic_compare_exchange_strong(&area->owner, &parent, OWNER_CHANGES))
		make_own();
	while (atomic_load(&area->owner) != OWNER_THIS)
		__builtin_ia32_pause();
}

/* Call with the lock held, when a function will be called without being counted. */
static void count_uncounted(void)
{
	if (area)
		atomic_fetch_add(&area->records[0].count, 1);
	else
		uncounted++;
}

/* ---- trampolines ---- */

/*
 * A trampoline calls this when the records are not this process's. It saves every register that can
 * hold an argument and calls call_counter_own.
 */
void call_counter_own(void) __attribute__((visibility("hidden")));
void call_counter_own(void)
{
	own_records();
}

void call_counter_keep(void) __attribute__((visibility("hidden")));
__asm__(".text\n"
	".type call_counter_keep, @function\n"
	"call_counter_keep:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rax\n"
	"	push %rdi\n"
	"	push %rsi\n"
	"	push %rdx\n"
	"	push %rcx\n"
	"	push %r8\n"
	"	push %r9\n"
	"	push %r10\n"
	"	push %r11\n"
	"	push %rbx\n"
	"	mov %rsp, %rbx\n"
	"	sub $512, %rsp\n"
	"	and $-64, %rsp\n"
	"	fxsave64 (%rsp)\n"
	"	call call_counter_own\n"
	"	fxrstor64 (%rsp)\n"
	"	mov %rbx, %rsp\n"
	"	pop %rbx\n"
	"	pop %r11\n"
	"	pop %r10\n"
	"	pop %r9\n"
	"	pop %r8\n"
	"	pop %rcx\n"
	"	pop %rdx\n"
	"	pop %rsi\n"
	"	pop %rdi\n"
	"	pop %rax\n"
	"	pop %rbp\n"
	"	ret\n"
	".size call_counter_keep, . - call_counter_keep\n");

static void put_relative(uint8_t *to, const void *target, const uint8_t *next_instruction)
{
	int32_t distance = (int32_t)((intptr_t)target - (intptr_t)next_instruction);

	memcpy(to, &distance, sizeof(distance));
}

/* The flags register is free at a function's entry (System V ABI, x86-64, 3.2.1). */
static uintptr_t make_trampoline(uint32_t number, uintptr_t target)
{
	static const uint8_t form[TRAMPOLINE_BYTES] = {
		0x80, 0x3d, 0,	  0,	0, 0, OWNER_THIS,    /*  0: cmpb $1, owner(%rip) */
		0x74, 0x06,				     /*  7: je 15 */
		0xff, 0x15, 0x13, 0,	0, 0,		     /*  9: call *34(%rip) */
		0xf0, 0x48, 0xff, 0x05, 0, 0, 0,	  0, /* 15: lock incq count(%rip) */
		0xff, 0x25, 0x0b, 0,	0, 0,		     /* 23: jmp *40(%rip) */
	};
	uintptr_t keep = (uintptr_t)call_counter_keep;
	uint8_t *code = area->code[number];

	memcpy(code, form, sizeof(form));
	put_relative(code + 2, (void *)&area->owner, code + 7);
	put_relative(code + 11, code + 32, code + 15);
	put_relative(code + 19, &area->records[number].count, code + 23);
	put_relative(code + 25, code + 40, code + 29);
	memcpy(code + 32, &keep, sizeof(keep));
	memcpy(code + 40, &target, sizeof(target));
	return (uintptr_t)code;
}

static uintptr_t target_of(uint32_t number)
{
	uintptr_t target;

	memcpy(&target, area->code[number] + 40, sizeof(target));
	return target;
}

/*
 * Call with the lock held. Makes one trampoline for each record and address. Returns TARGET itself
 * when there is no room, and counts that in the first record.
 */
static uintptr_t trampoline_for(const char *text, uintptr_t target)
{
	for (uint32_t i = 1; i < record_count; i++)
		if (target_of(i) == target && !strcmp(area->records[i].text, text))
			return (uintptr_t)area->code[i];
	if (record_count == MAX_RECORDS) {
		count_uncounted();
		return target;
	}
	strcpy(area->records[record_count].text, text);
	return make_trampoline(record_count++, target);
}

/* ---- what the loader calls ---- */

/*
 * Returns whether SYMBOL is counted, and the plain name: SYMBOL itself or the name in the C++ name
 * of a function ("_Z10hipExample...").
 */
static bool counted_name(const char *symbol, char ret_name[MAX_NAME_BYTES * 2])
{
	unsigned long length = strlen(symbol);
	char *begin;

	if (!strncmp(symbol, "_Z", 2) && symbol[2] > '0' && symbol[2] <= '9') {
		length = strtoul(symbol + 2, &begin, 10);
		symbol = begin;
	}
	if (length >= MAX_NAME_BYTES * 2 || strlen(symbol) < length)
		return false;
	memcpy(ret_name, symbol, length);
	ret_name[length] = '\0';
	return !strncmp(ret_name, "hip", 3) || !strncmp(ret_name, "__hip", 5) ||
	       !strncmp(ret_name, "nccl", 4);
}

static const char *name_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uintptr_t bind(const Elf64_Sym *sym, const struct object *caller,
		      const struct object *definer, const char *symbol)
{
	char text[sizeof(((struct record *)NULL)->text)] = "";
	char name[MAX_NAME_BYTES * 2];
	uintptr_t bound = sym->st_value;

	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || caller == definer || caller->is_tool ||
	    !counted_name(symbol, name))
		return bound;
	if (area)
		own_records();
	lock();
	if (area || make_area()) {
		snprintf(text, sizeof(text), "%.100s\t%s\t%s\n", name, caller->name, definer->name);
		bound = trampoline_for(text, bound);
	} else {
		count_uncounted();
	}
	unlock();
	return bound;
}

AUDIT_API uintptr_t la_symbind64(Elf64_Sym *sym, unsigned int index, uintptr_t *caller,
				 uintptr_t *definer, unsigned int *flags, const char *symbol)
{
	(void)index;
	(void)flags;
	return bind(sym, (const struct object *)*caller, (const struct object *)*definer, symbol);
}

AUDIT_API unsigned int la_version(unsigned int version)
{
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

static void write_name(const struct link_map *map, char ret_name[MAX_NAME_BYTES])
{
	char path[PAGE_BYTES] = "";

	if (*map->l_name) {
		snprintf(ret_name, MAX_NAME_BYTES, "%s", name_of_file(map->l_name));
		return;
	}
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		strcpy(path, "program");
	snprintf(ret_name, MAX_NAME_BYTES, "%s", name_of_file(path));
}

/* ---- relocations that the loader does not report ---- */

/* The object's tables and segments, as the relocations need them. */
struct tables {
	const struct link_map *map;
	const Elf64_Phdr *segments;
	uint32_t segment_count;
	Elf64_Rela *relocations;
	size_t relocation_count;
	const Elf64_Sym *symbols;
	const char *strings;
};

/* Some loaders have added the load address to the dynamic section's addresses, others have not. */
static uintptr_t address_in(const struct link_map *map, const Elf64_Dyn *entry)
{
	uintptr_t address = entry->d_un.d_ptr;

	return address < map->l_addr ? address + map->l_addr : address;
}

static void find_segments(struct tables *tables)
{
	const Elf64_Ehdr *file = (const Elf64_Ehdr *)tables->map->l_addr;

	if (!*tables->map->l_name) {
		tables->segments = (const Elf64_Phdr *)getauxval(AT_PHDR);
		tables->segment_count = (uint32_t)getauxval(AT_PHNUM);
	} else if (file && !memcmp(file->e_ident, ELFMAG, SELFMAG)) {
		tables->segments = (const Elf64_Phdr *)((const char *)file + file->e_phoff);
		tables->segment_count = file->e_phnum;
	}
}

static void find_tables(struct tables *tables)
{
	for (const Elf64_Dyn *entry = tables->map->l_ld; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_RELA)
			tables->relocations = (Elf64_Rela *)address_in(tables->map, entry);
		else if (entry->d_tag == DT_RELASZ)
			tables->relocation_count = entry->d_un.d_val / sizeof(Elf64_Rela);
		else if (entry->d_tag == DT_SYMTAB)
			tables->symbols = (const Elf64_Sym *)address_in(tables->map, entry);
		else if (entry->d_tag == DT_STRTAB)
			tables->strings = (const char *)address_in(tables->map, entry);
	}
	find_segments(tables);
}

/* Returns the protection of the segment that holds ADDRESS, -1 if none does. */
static int protection_at(const struct tables *tables, uintptr_t address)
{
	for (uint32_t i = 0; i < tables->segment_count; i++) {
		const Elf64_Phdr *segment = &tables->segments[i];
		uintptr_t begin = tables->map->l_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || address < begin ||
		    address >= begin + segment->p_memsz)
			continue;
		return (segment->p_flags & PF_R ? PROT_READ : 0) |
		       (segment->p_flags & PF_W ? PROT_WRITE : 0) |
		       (segment->p_flags & PF_X ? PROT_EXEC : 0);
	}
	return -1;
}

/*
 * Returns whether the word will hold the address of a counted function of another library: a GOT
 * entry of a call without the PLT, or a pointer in a table.
 */
static bool is_pointer_to_counted(const struct tables *tables, const Elf64_Rela *relocation)
{
	uint32_t type = ELF64_R_TYPE(relocation->r_info);
	const Elf64_Sym *symbol = &tables->symbols[ELF64_R_SYM(relocation->r_info)];
	char name[MAX_NAME_BYTES * 2];

	return (type == R_X86_64_GLOB_DAT || (type == R_X86_64_64 && !relocation->r_addend)) &&
	       symbol->st_shndx == SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT &&
	       counted_name(tables->strings + symbol->st_name, name);
}

static void make_jump_slot(const struct tables *tables, Elf64_Rela *relocation)
{
	uintptr_t page = (uintptr_t)relocation & ~(uintptr_t)(PAGE_BYTES - 1);
	size_t bytes = (uintptr_t)(relocation + 1) - page;
	int protection = protection_at(tables, (uintptr_t)relocation);

	if (protection < 0 || mprotect((void *)page, bytes, protection | PROT_WRITE)) {
		lock();
		count_uncounted();
		unlock();
		return;
	}
	relocation->r_info = ELF64_R_INFO(ELF64_R_SYM(relocation->r_info), R_X86_64_JUMP_SLOT);
	mprotect((void *)page, bytes, protection);
}

/*
 * The loader calls la_symbind64 only for JUMP_SLOT relocations. The others store the same address,
 * so this changes them to JUMP_SLOT before the loader processes them.
 */
static void find_pointers(const struct link_map *map)
{
	struct tables tables = {.map = map};

	if (!map->l_ld)
		return;
	find_tables(&tables);
	if (!tables.relocations || !tables.symbols || !tables.strings)
		return;
	for (size_t i = 0; i < tables.relocation_count; i++)
		if (is_pointer_to_counted(&tables, &tables.relocations[i]))
			make_jump_slot(&tables, &tables.relocations[i]);
}

/* Returns NULL when there are too many. */
static struct object *open_object(void)
{
	struct object *found = NULL;

	lock();
	for (size_t i = 0; i < MAX_OBJECTS && !found; i++)
		if (!objects[i].is_open)
			found = &objects[i];
	if (found)
		found->is_open = true;
	else
		count_uncounted();
	unlock();
	return found;
}

AUDIT_API unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	struct object *object = open_object();

	(void)space;
	*cookie = (uintptr_t)object;
	if (!object)
		return 0;
	write_name(map, object->name);
	object->is_tool = !strcmp(object->name, TOOL);
	if (object->is_tool)
		return LA_FLG_BINDTO;
	find_pointers(map);
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

AUDIT_API unsigned int la_objclose(uintptr_t *cookie)
{
	struct object *object = (struct object *)*cookie;

	if (object)
		object->is_open = false;
	return 0;
}
