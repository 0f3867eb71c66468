/* Decodes the texts that describe an activity in XSpace into a work kind:
 *
 * 	regs:50 static_shared:0 dynamic_shared:8192 grid:128,1,1 block:128,1,1 occ_pct:56.25
 * 	grid:128,1,1 block:64,1,1 private_mem:0 group_mem:1024 occ_pct:0
 * 	kind_src:pageable kind_dst:device size:4096 dest:0 async:1
 * 	kind:device num_bytes:4096 async:1
 *
 * dagtap's files may also have work_items:1000,1,1 and src:1. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/xspace/xspace_reader_load.h"

struct details {
	uint64_t grid[3], block[3]; /* grid in blocks; block in work-items */
	uint64_t work_items[3];	    /* grid in work-items, if the last blocks are not full */
	uint64_t private_bytes, group_bytes, registers, scalar_registers, bytes;
	uint64_t src, dest; /* GPU numbers of the file; valid if has_src, has_dest */
	bool has_src, has_dest;
};

static const struct {
	const char *word;
	enum trace_copy_direction direction;
} directions[] = {
	{"H2H", TRACE_H2H}, {"H2D", TRACE_H2D}, {"D2H", TRACE_D2H},
	{"D2D", TRACE_D2D}, {"P2P", TRACE_P2P},
};

static uint32_t clamped(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void take_dim(const char *text, uint64_t dim[3])
{
	for (int i = 0; i < 3; i++) {
		char *end;

		dim[i] = strtoull(text, &end, 10);
		text = *end == ',' ? end + 1 : end;
	}
}

static bool is_key(const char *token, size_t chars, const char *key)
{
	return strlen(key) == chars && !memcmp(token, key, chars);
}

static void take_token(const char *key, size_t chars, const char *value, struct details *details)
{
	uint64_t number = strtoull(value, NULL, 10);

	if (is_key(key, chars, "grid")) {
		take_dim(value, details->grid);
	} else if (is_key(key, chars, "block")) {
		take_dim(value, details->block);
	} else if (is_key(key, chars, "static_shared") || is_key(key, chars, "dynamic_shared") ||
		   is_key(key, chars, "group_mem")) {
		details->group_bytes += number;
	} else if (is_key(key, chars, "regs")) {
		details->registers = number;
	} else if (is_key(key, chars, "scalar_regs")) {
		details->scalar_registers = number;
	} else if (is_key(key, chars, "private_mem")) {
		details->private_bytes = number;
	} else if (is_key(key, chars, "size") || is_key(key, chars, "num_bytes")) {
		details->bytes = number;
	} else if (is_key(key, chars, "work_items")) {
		take_dim(value, details->work_items);
	} else if (is_key(key, chars, "dest")) {
		details->dest = number;
		details->has_dest = true;
	} else if (is_key(key, chars, "src")) {
		details->src = number;
		details->has_src = true;
	}
}

static void take_details(const char *text, struct details *details)
{
	while (*text) {
		size_t chars = strcspn(text, " \n");
		const char *colon = memchr(text, ':', chars);

		if (colon)
			take_token(text, (size_t)(colon - text), colon + 1, details);
		text += chars;
		text += strspn(text, " \n");
	}
}

static enum trace_copy_direction direction_of(const char *name)
{
	for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++) {
		if (strstr(name, directions[i].word))
			return directions[i].direction;
	}
	return TRACE_COPY_UNKNOWN;
}

/* The agent with the file's ORDINAL; TRACE_NONE, the host, if there is none or it is not stated. */
static uint32_t find_agent(const struct xread_load *load, uint32_t process, bool is_said,
			   uint64_t ordinal)
{
	return is_said ? numbers_find(&load->import.agents, process, ordinal) : TRACE_NONE;
}

/* Sets direction and agents of a copy. XLA states no source, and its destination is meaningful
 * only for copies between GPUs. */
static void take_copy(const struct xread_load *load, const struct details *details,
		      const struct trace_activity *where, const char *name, struct trace_work *work)
{
	uint32_t dest = find_agent(load, where->process, details->has_dest, details->dest);

	work->direction = direction_of(name);
	if (load->is_ours) {
		work->dst_agent = dest;
		work->src_agent = find_agent(load, where->process, details->has_src, details->src);
		return;
	}
	if (work->direction == TRACE_H2D || work->direction == TRACE_D2D)
		work->dst_agent = where->agent;
	if (work->direction == TRACE_D2H || work->direction == TRACE_D2D ||
	    work->direction == TRACE_P2P)
		work->src_agent = where->agent;
	if (work->direction == TRACE_P2P)
		work->dst_agent = dest;
}

static enum xspace_stat details_of(enum trace_activity_kind kind)
{
	switch (kind) {
	case TRACE_COPY:
		return XSPACE_STAT_MEMCPY_DETAILS;
	case TRACE_MEMSET:
		return XSPACE_STAT_MEMSET_DETAILS;
	default:
		return XSPACE_STAT_KERNEL_DETAILS;
	}
}

static struct trace_work make_work(const struct xread_load *load, const struct xread_event *event,
				   enum trace_activity_kind kind,
				   const struct trace_activity *where)
{
	const char *name = xread_string(load, event->name);
	trace_string blit = xread_text_of(event, XSPACE_STAT_BLIT_KERNEL);
	struct details details = {0};
	struct trace_work work;

	/* zero the padding too, because rows are hashed as bytes */
	memset(&work, 0, sizeof(work));
	take_details(xread_string(load, xread_text_of(event, details_of(kind))), &details);
	work.kind = kind;
	work.src_agent = work.dst_agent = TRACE_NONE;
	work.blit = blit != 0;
	work.name = load->is_ours && kind != TRACE_KERNEL ? blit : event->name;
	for (int i = 0; i < 3; i++) {
		work.workgroup[i] = clamped(details.block[i]);
		if (__builtin_mul_overflow(details.grid[i], details.block[i], &work.grid[i]))
			work.grid[i] = UINT64_MAX;
		if (details.work_items[i])
			work.grid[i] = details.work_items[i];
	}
	work.registers = clamped(details.registers);
	work.scalar_registers = clamped(details.scalar_registers);
	work.private_bytes = clamped(details.private_bytes);
	work.group_bytes = clamped(details.group_bytes);
	work.bytes = details.bytes;
	if (kind == TRACE_COPY)
		take_copy(load, &details, where, name, &work);
	return work;
}

int64_t xread_work(struct xread_load *load, const struct xread_event *event,
		   enum trace_activity_kind kind, const struct trace_activity *where)
{
	trace_string details = xread_text_of(event, details_of(kind));
	trace_string blit = xread_text_of(event, XSPACE_STAT_BLIT_KERNEL);
	uint64_t high = (uint64_t)event->name << 32 | details;
	uint64_t low = (uint64_t)blit << 32 | (uint64_t)where->agent << 2 | kind;
	struct trace_work work;
	uint32_t *row;
	int64_t number = numbers_row(&load->work_texts, high, low, (void **)&load->text_works,
				     &load->text_works_count, sizeof(*row), (void **)&row);

	if (row) {
		/* different texts may describe the same work kind */
		work = make_work(load, event, kind, where);
		*row = work_intern(&load->import.works, &work);
	}
	if (number < 0 || load->text_works[number] == TRACE_NONE)
		return -ENOMEM;
	return load->text_works[number];
}
