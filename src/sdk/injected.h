/* The injected library of this process: the one that `dagtap record` has preloaded, or the one that
 * this library loads for itself where a program has found it by LD_LIBRARY_PATH alone.
 *
 * The latter stands dormant, and records while a tool wants records; unless the user has set
 * DAGTAP_WAIT, calls of profilers do not start and stop it. Its recordings have no name:
 * each is read by the thread of source.c alone, and its file is removed when that thread has
 * opened it. If DAGTAP_SPOOL names a folder, the files stay there.
 *
 * Threading: any thread. injected_begin and injected_end take a lock, and wait for each other. */
#ifndef DAGTAP_SDK_INJECTED_H
#define DAGTAP_SDK_INJECTED_H

#include <stdbool.h>

#include "base/inject.h"

/* Returns the functions of the injected library of this process, or NULL: there is none, or an
 * older one. The first answer that is not NULL is remembered: later calls take no lock. */
const struct inject_table *injected_find(void);

/* Loads the injected library from this installation if the process has none. Returns what
 * injected_find does then: NULL also while another thread loads it. */
const struct inject_table *injected_load(void);

/* Returns SYMBOL of the library that injected_load has loaded; NULL: it has not loaded one. */
void *injected_own_symbol(const char *symbol);

/* Begins a recording of the own library, if none is on, also if something else has ended it. */
void injected_begin(void);

/* Whether a recording goes on that injected_begin has begun. */
bool injected_is_on(void);

/* Ends it, unless STILL_WANTED, which may be NULL, returns true: it is asked with the lock. The
 * recording is complete when this returns. */
void injected_end(bool (*still_wanted)(void));

/* The spool at PATH has been opened: removes its name if it is one of the own library's. */
void injected_opened(const char *path);

/* In a child of fork: makes the lock free. The child has no recording. */
void injected_forget_parent(void);

#endif
