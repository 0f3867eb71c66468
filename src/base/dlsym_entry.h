/* A dlsym for preloaded libraries that give the program their functions in the place of others'.
 * Such a library defines dlsym_of_handle, links with --defsym=dlsym=dlsym_entry, and exports dlsym
 * and dagtap_dlsym_of_handle_v1.
 *
 * Threading: any thread. Several such libraries in one process call each other's in the order in
 * which they were loaded. */
#ifndef DAGTAP_BASE_DLSYM_ENTRY_H
#define DAGTAP_BASE_DLSYM_ENTRY_H

/* In dlsym_entry.S, which is written for x86-64 alone. Passes RTLD_DEFAULT and RTLD_NEXT to the C
 * library, whose answer to the caller stays the same, and calls dlsym_of_handle for handles. */
void *dlsym_entry(void *handle, const char *name);

/* The library's answer. */
void *dlsym_of_handle(void *handle, const char *name);

/* What is behind our dlsym, called from here: the answer of the next such library for a handle,
 * else the C library's. */
void *dlsym_inner(void *handle, const char *name);

/* dlsym_of_handle, for the library before this one. */
void *dagtap_dlsym_of_handle_v1(void *handle, const char *name);

/* For dlsym_entry.S. dlsym_open finds dlsym_libc, the C library's dlsym, which is NULL before. */
extern void *(*dlsym_libc)(void *handle, const char *name);
void dlsym_open(void);

#endif
