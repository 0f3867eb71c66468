/* Finds the vendor's function behind a symbol that the injected library exports itself. Any
 * thread; takes the dynamic loader's locks. */
#ifndef DAGTAP_CAPTURE_SYMBOL_H
#define DAGTAP_CAPTURE_SYMBOL_H

/* Returns the address of SYMBOL in the next object (RTLD_NEXT); if there is none, in the first
 * loaded library of SONAMES (ended by NULL) that has it. The second search finds libraries that
 * a plugin has loaded with RTLD_LOCAL, which RTLD_NEXT does not search. Returns NULL when no
 * library has it. A library in which it is found by soname is never unloaded. */
void *symbol_next(const char *symbol, const char *const *sonames);

/* Returns the address of SYMBOL in any loaded object but the injected library, or NULL: a
 * framework may bring a library under a name of its own. Searches all loaded objects, so do not
 * call it often. The object, or one that depends on it, is never unloaded. */
void *symbol_anywhere(const char *symbol);

/* The same search; calls VISIT with the address, which is not valid any more afterwards, and keeps
 * no object loaded. Does nothing if there is none. */
void symbol_visit(const char *symbol, void (*visit)(void *address));

#endif
