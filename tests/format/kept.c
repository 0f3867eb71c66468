/* What a case has made: kept.h. */
#include "kept.h"

#include <stdlib.h>

static struct kept {
	void *object;
	void (*release)(void *object);
} * kept;

static size_t kept_count;

void *keep(void *object, void (*release)(void *object))
{
	assert_non_null(object);
	kept = realloc(kept, (kept_count + 1) * sizeof(*kept));
	assert_non_null(kept);
	kept[kept_count++] = (struct kept){object, release};
	return object;
}

int kept_teardown(void **state)
{
	while (kept_count) {
		kept_count--;
		kept[kept_count].release(kept[kept_count].object);
	}
	free(kept);
	kept = NULL;
	return 0;
}
