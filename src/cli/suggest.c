/* Compares words by the characters that must change (suggest.h). */
#include "cli/suggest.h"

#include <string.h>

#define WORD_CHARS 32

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The number of characters to insert, remove, replace or swap with the next one to make A of B. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][WORD_CHARS + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];
	size_t a_chars = strlen(a), b_chars = strlen(b);

	if (a_chars > WORD_CHARS || b_chars > WORD_CHARS)
		return WORD_CHARS;
	for (size_t j = 0; j <= b_chars; j++)
		above[j] = j;
	for (size_t i = 1; i <= a_chars; i++) {
		size_t *free_row = before;

		row[0] = i;
		for (size_t j = 1; j <= b_chars; j++) {
			row[j] = least(above[j], row[j - 1]) + 1;
			row[j] = least(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = free_row;
	}
	return above[b_chars];
}

void suggest(struct suggestion *suggestion, const char *candidate)
{
	size_t found = distance(suggestion->typed, candidate);

	if (found * 3 > strlen(candidate) + 1 ||
	    (suggestion->word && found >= suggestion->distance))
		return;
	suggestion->word = candidate;
	suggestion->distance = found;
}
