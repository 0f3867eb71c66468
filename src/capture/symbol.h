/* What is behind a symbol that the injected library stands in for. */
#ifndef DAGTAP_CAPTURE_SYMBOL_H
#define DAGTAP_CAPTURE_SYMBOL_H

/* The next object's SYMBOL, or that of the first of SONAMES (up to NULL) that is loaded and has it: a
 * library that came in RTLD_LOCAL with a plugin is not among the objects that RTLD_NEXT looks at. NULL
 * when there is none. */
void *symbol_next(const char *symbol, const char *const *sonames);

/* Any loaded object's but ours: a framework may bring a library under a name of its own. Looks at all of
 * them, so it is not to be asked again and again. */
void *symbol_anywhere(const char *symbol);

#endif
