/* Checks the header of a spool, and reads from it what process wrote the spool. */
#include <errno.h>
#include <string.h>

#include "record/spool_header.h"
#include "record/spool_reader_state.h"

static bool is_terminated(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

/* Returns what is wrong with the header, and its offset; NULL if nothing is. */
static const char *find_header_fault(const struct spool_header *h, uint64_t *ret_offset)
{
	*ret_offset = offsetof(struct spool_header, header_bytes);
	if (h->header_bytes != SPOOL_HEADER_BYTES || h->writer_bytes != SPOOL_WRITER_BYTES ||
	    h->writer_count != SPOOL_WRITER_COUNT || h->chunk_bytes != SPOOL_CHUNK_BYTES ||
	    h->class_count != SPOOL_CLASS_COUNT || h->cause_count != SPOOL_CAUSE_COUNT ||
	    h->chunk_offset != SPOOL_CHUNK_OFFSET)
		return "header sizes are not those of this version";
	*ret_offset = offsetof(struct spool_header, host);
	if (!is_terminated(h->host, sizeof(h->host)) || !is_terminated(h->exe, sizeof(h->exe)))
		return "name in the header is not terminated";
	*ret_offset = offsetof(struct spool_header, cmdline_bytes);
	if (h->cmdline_bytes > sizeof(h->cmdline))
		return "command line runs past the header";
	return NULL;
}

static size_t lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

int spool_header_check(const struct spool_header *h, size_t length, const char *name,
		       struct dagtap_error *error)
{
	const char *fault;
	uint64_t offset;

	if (length == 0)
		return dagtap_error_at(error, -ENODATA, name, 0, "the file is empty");
	if (memcmp(h->magic, SPOOL_MAGIC, lesser(length, sizeof(h->magic))) != 0)
		return dagtap_error_at(error, -EINVAL, name, 0, "not a spool file");
	if (length < SPOOL_CHUNK_OFFSET)
		return dagtap_error_at(error, -ENODATA, name, length,
				       "the file ends inside its header");
	if (h->version != SPOOL_VERSION)
		return dagtap_error_at(error, -EINVAL, name, offsetof(struct spool_header, version),
				       "spool version %u, this program reads %u", h->version,
				       SPOOL_VERSION);
	if (h->fixed_crc != spool_fixed_crc(h))
		return dagtap_error_at(error, -EINVAL, name, 0,
				       "header does not match its checksum");
	fault = find_header_fault(h, &offset);
	if (fault)
		return dagtap_error_at(error, -EINVAL, name, offset, "%s", fault);
	return 0;
}

struct spool_info spool_header_info(const struct spool_header *h)
{
	bool closed = atomic_load_explicit(&h->live.state, memory_order_acquire) == SPOOL_CLOSED;

	return (struct spool_info){
		.closed = closed,
		.pid = h->pid,
		.ppid = h->ppid,
		.session = h->session,
		.session_id = h->session_id,
		.start_ns = h->start_ns,
		.start_realtime_ns = h->start_realtime_ns,
		.end_ns = closed ? h->live.end_ns : 0,
		.host = h->host,
		.exe = h->exe,
		.cmdline = h->cmdline,
		.cmdline_bytes = h->cmdline_bytes,
	};
}

int reader_check_header(struct spool_reader *r, struct dagtap_error *error)
{
	return spool_header_check(r->header, r->length, r->name, error);
}

static int check_live(struct spool_reader *r, struct dagtap_error *error)
{
	const struct spool_live *live = &r->header->live;
	uint32_t state = atomic_load_explicit(&live->state, memory_order_relaxed);

	r->writers_used = reader_load(&live->writers_used);
	if (state != SPOOL_OPEN && state != SPOOL_CLOSED)
		return dagtap_error_at(error, -EINVAL, r->name,
				       SPOOL_LIVE_OFFSET + offsetof(struct spool_live, state),
				       "unknown state %u", state);
	if (r->writers_used > SPOOL_WRITER_COUNT)
		return dagtap_error_at(error, -EINVAL, r->name,
				       SPOOL_LIVE_OFFSET +
					       offsetof(struct spool_live, writers_used),
				       "more writers in use than there are");
	r->info.closed = state == SPOOL_CLOSED;
	r->writers_trusted =
		!r->info.closed ||
		live->counts_crc == spool_counts_crc(live, r->writers, r->writers_used);
	if (!r->writers_trusted)
		reader_add_damage(r, SPOOL_DAMAGE_COUNTS_SUM, SPOOL_NO_WRITER, SPOOL_LIVE_OFFSET, 0,
				  NULL);
	return 0;
}

int reader_read_header(struct spool_reader *r, struct dagtap_error *error)
{
	int err = check_live(r, error);

	if (!err)
		r->info = spool_header_info(r->header);
	return err;
}
