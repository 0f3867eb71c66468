/* The strings of a rocpd file, each written when it is first used (see rocpd.h). */
#include <errno.h>
#include <string.h>

#include <xxhash.h>

#include "format/rocpd/rocpd.h"
#include "format/words.h"

uint32_t rocpd_string(struct rocpd *rocpd, const char *text)
{
	const char *clean = table_utf8(text, &rocpd->file->clean);
	uint32_t known = rocpd->strings.count, number;
	struct rocpd_row row;
	XXH128_hash_t hash;

	if (!clean || rocpd->err) {
		rocpd->err = rocpd->err ? rocpd->err : -ENOMEM;
		return 1;
	}
	hash = XXH3_128bits(clean, strlen(clean));
	number = numbers_get(&rocpd->strings, hash.high64, hash.low64);
	if (number == NUMBERS_NONE) {
		rocpd->err = -ENOMEM;
	} else if (number == known) {
		row = rocpd_begin(rocpd, ROCPD_STRING);
		rocpd_put(&row, number + 1);
		rocpd_put_constant(&row, clean);
		rocpd_end(&row);
	}
	return number + 1;
}

uint32_t rocpd_text(struct rocpd *rocpd, trace_string string)
{
	if (rocpd->texts[string] == 0)
		rocpd->texts[string] = rocpd_string(rocpd, trace_text(rocpd->trace, string));
	return rocpd->texts[string];
}

uint32_t rocpd_path(struct rocpd *rocpd, uint32_t scope)
{
	char path[WORDS_PATH_CHARS];

	if (scope == TRACE_NONE)
		return rocpd_text(rocpd, 0);
	if (rocpd->paths[scope] == 0)
		rocpd->paths[scope] = rocpd_string(
			rocpd, words_scope_path(rocpd->trace, scope, path, sizeof(path)));
	return rocpd->paths[scope];
}
