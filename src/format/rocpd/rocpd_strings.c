/* The strings of a rocpd file, each written when it is first used (see rocpd.h). */
#include <errno.h>
#include <string.h>

#include <xxhash.h>

#include "format/rocpd/rocpd.h"
#include "format/words.h"

uint32_t rocpd_string(struct rocpd *rocpd, uint32_t process, const char *text)
{
	const char *clean = table_utf8(text, &rocpd->file->clean);
	uint32_t known = rocpd->strings.count, number;
	struct rocpd_row row;
	XXH128_hash_t hash;

	if (!clean || rocpd->err) {
		rocpd->err = rocpd->err ? rocpd->err : -ENOMEM;
		return 1;
	}
	hash = XXH3_128bits_withSeed(clean, strlen(clean), process);
	number = numbers_get(&rocpd->strings, hash.high64, hash.low64);
	if (number == NUMBERS_NONE) {
		rocpd->err = -ENOMEM;
	} else if (number == known) {
		row = rocpd_begin(rocpd, ROCPD_STRING, process);
		rocpd_put(&row, number + 1);
		rocpd_put_constant(&row, clean);
		rocpd_end(&row);
	}
	return number + 1;
}

uint32_t rocpd_text(struct rocpd *rocpd, uint32_t process, trace_string string)
{
	struct rocpd_id *known = &rocpd->texts[string];

	if (known->id == 0 || known->process != process)
		*known = (struct rocpd_id){
			process, rocpd_string(rocpd, process, trace_text(rocpd->trace, string))};
	return known->id;
}

uint32_t rocpd_path(struct rocpd *rocpd, uint32_t process, uint32_t scope)
{
	char path[WORDS_PATH_CHARS];
	struct rocpd_id *known;

	if (scope == TRACE_NONE)
		return rocpd_text(rocpd, process, 0);
	known = &rocpd->paths[scope];
	if (known->id == 0 || known->process != process)
		*known = (struct rocpd_id){
			process,
			rocpd_string(rocpd, process,
				     words_scope_path(rocpd->trace, scope, path, sizeof(path)))};
	return known->id;
}
