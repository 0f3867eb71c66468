/* Names of the XSpace stats. */
#include "format/xspace/xspace.h"

const char *xspace_stat_name(enum xspace_stat stat)
{
	static const char *const names[] = {
#define X(name, text) [XSPACE_STAT_##name] = (text),
		XSPACE_STATS(X)
#undef X
	};

	if ((size_t)stat >= sizeof(names) / sizeof(names[0]) || !names[stat])
		return "";
	return names[stat];
}
