/* A dlsym for preloaded libraries that give the program their functions in the place of others'.
 * Such a library defines dlsym_of_handle, links with --defsym=dlsym=dlsym_entry, and exports dlsym.
 *
 * Threading: any thread. Several such libraries in one process call each other's in their order. */
#ifndef DAGTAP_BASE_DLSYM_ENTRY_H
#define DAGTAP_BASE_DLSYM_ENTRY_H

/* In dlsym_entry.S, which is written for x86-64 alone. Passes RTLD_DEFAULT and RTLD_NEXT to the C
 * library, whose answer to the caller stays the same, and calls dlsym_of_handle for handles. */
void *dlsym_entry(void *handle, const char *name);

/* The library's answer. */
void *dlsym_of_handle(void *handle, const char *name);

/* The C library's dlsym, called from here. */
void *dlsym_inner(void *handle, const char *name);

/* For dlsym_entry.S. dlsym_open finds dlsym_libc, which is NULL before. */
extern void *(*dlsym_libc)(void *handle, const char *name);
void dlsym_open(void);

#endif
