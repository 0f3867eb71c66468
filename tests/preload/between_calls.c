/* See between_calls.h. BETWEEN_LIST is the list of the calls. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "between_calls.h"

static struct {
	const char *name;
	uint64_t count;
} calls[] = {
#define CALL(name, class) {#name, 0},
#include BETWEEN_LIST
#undef CALL
};

static uint64_t count(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].count;
	abort();
}

static void *next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	/* Not as the last call: dlsym looks at where it returns to. */
	__asm__ volatile("" : "+r"(function));
	return function;
}

__attribute__((visibility("default"))) struct between between_calls = {.count = count,
								       .next = next};

static int swallow(void)
{
	return 0;
}

__attribute__((visibility("hidden"))) void *between_enter(const char *name, const void *first);

/* Called by each wrapper, with its first argument. Returns the function to jump to. */
void *between_enter(const char *name, const void *first)
{
	void *function;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(calls[i].name, name) == 0)
			calls[i].count++;
	if (between_calls.swallowed && strcmp(between_calls.swallowed, name) == 0 &&
	    (!between_calls.first || between_calls.first == first))
		return (void *)swallow;
	function = next(name);
	/* The played driver does not have all. */
	return function ? function : (void *)swallow;
}

/* A wrapper for a function of any signature: it saves the six argument registers and leaves the
 * arguments on the stack in place. */
#define CALL(name, class)                                                                          \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                \
		"push %rdi\n"                                                                      \
		"push %rsi\n"                                                                      \
		"push %rdx\n"                                                                      \
		"push %rcx\n"                                                                      \
		"push %r8\n"                                                                       \
		"push %r9\n"                                                                       \
		"sub $8, %rsp\n"                                                                   \
		"mov %rdi, %rsi\n"                                                                 \
		"lea 1f(%rip), %rdi\n"                                                             \
		"call between_enter\n"                                                             \
		"add $8, %rsp\n"                                                                   \
		"pop %r9\n"                                                                        \
		"pop %r8\n"                                                                        \
		"pop %rcx\n"                                                                       \
		"pop %rdx\n"                                                                       \
		"pop %rsi\n"                                                                       \
		"pop %rdi\n"                                                                       \
		"jmp *%rax\n"                                                                      \
		"1: .string \"" #name "\"\n"                                                       \
		".size " #name ", . - " #name "\n");
#include BETWEEN_LIST
