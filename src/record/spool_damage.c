/* The damages that a reader has found in its spool. */
#include "record/spool_reader_state.h"

void reader_add_damage(struct spool_reader *r, enum spool_damage_kind kind, uint32_t writer,
		       uint64_t offset, uint64_t chunks, const char *cause)
{
	r->damages_total++;
	if (writer < SPOOL_WRITER_COUNT)
		r->is_damaged[writer] = true;
	if (r->damages_kept == DAMAGES_KEPT)
		return;
	r->damages[r->damages_kept++] = (struct spool_damage){
		.kind = kind,
		.writer = writer,
		.offset = offset,
		.chunks = chunks,
		.cause = cause ? cause : spool_damage_text(kind),
	};
}

const char *spool_damage_text(enum spool_damage_kind kind)
{
	static const char *const texts[SPOOL_DAMAGE_COUNT] = {
#define X(name, text) text,
		SPOOL_DAMAGES(X)
#undef X
	};

	return texts[kind];
}
