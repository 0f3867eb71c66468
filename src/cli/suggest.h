/* Finds the word that the user may have meant. */
#ifndef DAGTAP_CLI_SUGGEST_H
#define DAGTAP_CLI_SUGGEST_H

#include <stddef.h>

/* The best candidate so far. A zeroed struct, with TYPED set, has none. */
struct suggestion {
	const char *typed;
	const char *word; /* NULL: no candidate is like what was typed */
	size_t distance;
};

/* Offers CANDIDATE, which must outlive SUGGESTION. It is taken if it differs from what was typed in
 * few characters: one of three, and in fewer than the one before. */
void suggest(struct suggestion *suggestion, const char *candidate);

#endif
