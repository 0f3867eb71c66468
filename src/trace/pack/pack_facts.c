/* Writes and reads the facts of a PACKED section (pack_section.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/pack/pack_section.h"

/* The spool reader keeps at most 64, so a larger count means that the section is damaged. */
#define DAMAGES_MOST 1024

static void put_text(struct pack_buffer *out, const char *text)
{
	pack_put_bytes(out, text, strlen(text) + 1);
}

static void put_info(struct pack_buffer *out, const struct spool_info *info)
{
	pack_put_varint(out, info->closed);
	pack_put_varint(out, info->pid);
	pack_put_varint(out, info->ppid);
	pack_put_varint(out, info->session);
	pack_put_varint(out, info->session_id);
	pack_put_varint(out, info->start_ns);
	pack_put_varint(out, info->start_realtime_ns);
	pack_put_varint(out, info->end_ns);
	put_text(out, info->host);
	put_text(out, info->exe);
	pack_put_varint(out, info->cmdline_bytes);
	pack_put_bytes(out, info->cmdline, info->cmdline_bytes);
}

static void put_ledger(struct pack_buffer *out, const struct spool_ledger *ledger)
{
	pack_put_varint(out, RECORD_CLASS_COUNT);
	pack_put_varint(out, RECORD_DROP_COUNT);
	for (int class = 0; class < RECORD_CLASS_COUNT; class ++) {
		pack_put_varint(out, ledger->attempted[class]);
		pack_put_varint(out, ledger->found[class]);
		pack_put_varint(out, ledger->in_flight[class]);
		pack_put_varint(out, ledger->missing[class]);
		pack_put_varint(out, ledger->late[class]);
		for (int cause = 0; cause < RECORD_DROP_COUNT; cause++)
			pack_put_varint(out, ledger->dropped[class][cause]);
	}
	pack_put_varint(out, ledger->unknown);
	pack_put_varint(out, ledger->chunks_taken);
	pack_put_varint(out, ledger->chunks_read);
}

void pack_facts_write(struct pack_buffer *out, const struct spool_reader *spool)
{
	size_t kept;
	uint64_t total;
	const struct spool_damage *damages = spool_reader_damages(spool, &kept, &total);

	put_info(out, spool_reader_info(spool));
	put_ledger(out, spool_reader_ledger(spool));
	pack_put_varint(out, spool_reader_writer_count(spool));
	pack_put_varint(out, total);
	pack_put_varint(out, kept);
	for (size_t i = 0; i < kept; i++) {
		pack_put_varint(out, damages[i].kind);
		pack_put_varint(out, damages[i].writer);
		pack_put_varint(out, damages[i].offset);
		pack_put_varint(out, damages[i].chunks);
		put_text(out, damages[i].cause);
	}
}

static const char *take_text(struct pack_cursor *in)
{
	size_t left = (size_t)(in->end - in->at);
	const uint8_t *end = in->failed || left == 0 ? NULL : memchr(in->at, '\0', left);

	if (!end) {
		in->failed = true;
		return "";
	}
	return (const char *)pack_take_bytes(in, (size_t)(end - in->at) + 1);
}

static void take_info(struct pack_cursor *in, struct spool_info *info)
{
	info->closed = pack_take_varint(in) != 0;
	info->pid = (uint32_t)pack_take_size(in, UINT32_MAX);
	info->ppid = (uint32_t)pack_take_size(in, UINT32_MAX);
	info->session = (uint32_t)pack_take_size(in, UINT32_MAX);
	info->session_id = pack_take_varint(in);
	info->start_ns = pack_take_varint(in);
	info->start_realtime_ns = pack_take_varint(in);
	info->end_ns = pack_take_varint(in);
	info->host = take_text(in);
	info->exe = take_text(in);
	info->cmdline_bytes = pack_take_size(in, (size_t)(in->end - in->at));
	info->cmdline = (const char *)pack_take_bytes(in, info->cmdline_bytes);
}

/* Reads the counts of one class. Counts of classes and causes that this version does not know are
 * read and discarded. */
static void take_class(struct pack_cursor *in, struct spool_ledger *ledger, size_t class,
		       size_t causes)
{
	struct spool_ledger ignored;
	size_t at = class < RECORD_CLASS_COUNT ? class : 0;

	if (class >= RECORD_CLASS_COUNT)
		ledger = &ignored;
	ledger->attempted[at] = pack_take_varint(in);
	ledger->found[at] = pack_take_varint(in);
	ledger->in_flight[at] = pack_take_varint(in);
	ledger->missing[at] = pack_take_varint(in);
	ledger->late[at] = pack_take_varint(in);
	for (size_t cause = 0; cause < causes && !in->failed; cause++) {
		uint64_t dropped = pack_take_varint(in);

		if (cause < RECORD_DROP_COUNT)
			ledger->dropped[at][cause] = dropped;
	}
}

static void take_ledger(struct pack_cursor *in, struct spool_ledger *ledger)
{
	size_t classes = pack_take_size(in, SPOOL_CLASS_COUNT);
	size_t causes = pack_take_size(in, SPOOL_CAUSE_COUNT);

	for (size_t class = 0; class < classes && !in->failed; class ++)
		take_class(in, ledger, class, causes);
	ledger->unknown = pack_take_varint(in);
	ledger->chunks_taken = pack_take_varint(in);
	ledger->chunks_read = pack_take_varint(in);
}

static int take_damages(struct pack_cursor *in, struct pack_facts *facts)
{
	facts->damages_total = pack_take_varint(in);
	facts->damages_kept = pack_take_size(in, DAMAGES_MOST);
	facts->damages = calloc(facts->damages_kept + 1, sizeof(*facts->damages));
	if (!facts->damages)
		return -ENOMEM;
	for (size_t i = 0; i < facts->damages_kept && !in->failed; i++) {
		struct spool_damage *damage = &facts->damages[i];
		uint64_t kind = pack_take_varint(in);

		damage->kind = kind < SPOOL_DAMAGE_COUNT ? (enum spool_damage_kind)kind
							 : SPOOL_DAMAGE_COUNTS;
		damage->writer = (uint32_t)pack_take_size(in, UINT32_MAX);
		damage->offset = pack_take_varint(in);
		damage->chunks = pack_take_varint(in);
		damage->cause = take_text(in);
	}
	return 0;
}

int pack_facts_read(const void *bytes, size_t size, struct pack_facts *ret_facts)
{
	struct pack_cursor in = {.at = bytes, .end = (const uint8_t *)bytes + size};
	struct pack_facts facts = {0};
	int err;

	take_info(&in, &facts.info);
	take_ledger(&in, &facts.ledger);
	facts.writer_count = (uint32_t)pack_take_size(&in, UINT32_MAX);
	err = take_damages(&in, &facts);
	if (err == 0 && (in.failed || in.at != in.end || facts.damages_total < facts.damages_kept))
		err = -EINVAL;
	if (err < 0) {
		free(facts.damages);
		return err;
	}
	*ret_facts = facts;
	return 0;
}
