/* dagpatch_dump: a recording as text for people, or as input for Graphviz. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "patch/describe.h"
#include "patch/node.h"
#include "patch/recording.h"
#include "patch/slot_add.h"
#include "patch/work.h"

struct dump {
	const struct dagpatch_recording *recording;
	dagpatch_write_fn write;
	void *user;
	int rc; /* of the first write that failed; nothing is written after it */
};

__attribute__((format(printf, 2, 3))) static void put(struct dump *dump, const char *format, ...)
{
	char text[512];
	va_list arguments;
	int length;

	if (dump->rc < 0)
		return;
	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length > 0)
		dump->rc = dump->write(dump->user, text,
				       (size_t)length < sizeof(text) ? (size_t)length
								     : sizeof(text) - 1);
}

/* ---- parts of both formats ---- */

/* One address of a node, followed by END. */
static void put_relocation(struct dump *dump, uint32_t node, uint32_t byte, uint32_t slot,
			   uint64_t offset, const char *end)
{
	char where[BYTE_TEXT], name[96];

	byte = public_byte(dump->recording, node, byte);
	put(dump, "%s: %s",
	    byte == DAGPATCH_NONE ? "captured anew for"
				  : byte_text(dump->recording, node, byte, where),
	    slot_text(dump->recording, slot, name));
	if (offset > 0)
		put(dump, " + %llu", (unsigned long long)offset);
	put(dump, "%s", end);
}

static void put_relocations(struct dump *dump, uint32_t node, const char *begin, const char *end)
{
	const struct dagpatch_recording *recording = dump->recording;

	for (uint32_t i = 0; i < recording->loose_count; i++) {
		const struct loose_relocation *loose = &recording->loose[i];

		if (loose->node != node)
			continue;
		put(dump, "%s", begin);
		put_relocation(dump, node, loose->byte, loose->slot, loose->offset, end);
	}
	for (uint32_t slot = 0; recording->first_relocation && slot < recording->slot_count; slot++)
		for (uint32_t i = recording->first_relocation[slot];
		     i < recording->first_relocation[slot + 1]; i++) {
			const struct relocation *relocation = &recording->relocations[i];

			if (relocation->node != node)
				continue;
			put(dump, "%s", begin);
			put_relocation(dump, node, relocation->byte, slot, relocation->offset, end);
		}
}

static bool is_changed_last(const struct dagpatch_recording *recording, uint32_t node)
{
	for (uint32_t slot = 0; recording->first_relocation && slot < recording->slot_count;
	     slot++) {
		if (recording->last.number == 0 ||
		    recording->slots[slot].changed_in != recording->last.number)
			continue;
		for (uint32_t i = recording->first_relocation[slot];
		     i < recording->first_relocation[slot + 1]; i++)
			if (recording->relocations[i].node == node)
				return true;
	}
	return false;
}

static const char *origin_text(const struct dagpatch_recording *recording, uint32_t node)
{
	const struct node *record = &recording->nodes[node];

	if (record->flags & NODE_RECAPTURED)
		return ", captured anew when it moves";
	if (!(record->flags & NODE_CAPTURED))
		return "";
	return recording->works[record->detail].work->record ? ", captured" : ", a graph given";
}

static uint32_t own_image_size(const struct dagpatch_recording *recording, uint32_t node)
{
	return recording->nodes[node].image == DAGPATCH_NONE ? 0 : image_size(recording, node);
}

/* ---- text ---- */

static void put_slots(struct dump *dump)
{
	const struct dagpatch_recording *recording = dump->recording;
	char name[96];

	for (uint32_t i = 0; i < recording->slot_count; i++) {
		const struct slot *slot = &recording->slots[i];

		put(dump, "%s: %llu bytes, aligned to %llu%s%s", slot_text(recording, i, name),
		    (unsigned long long)slot->bytes, (unsigned long long)slot->alignment,
		    slot->on_host ? ", on the host" : "", slot->flags ? ", with a shadow" : "");
		if (recording->applied && recording->applied[i])
			put(dump, ", at 0x%llx", (unsigned long long)recording->applied[i]);
		if (recording->wanted && recording->wanted[i] != recording->applied[i])
			put(dump, ", wanted at 0x%llx", (unsigned long long)recording->wanted[i]);
		put(dump, "%s\n",
		    recording->last.number > 0 && slot->changed_in == recording->last.number
			    ? ", changed last"
			    : "");
	}
}

static void put_node(struct dump *dump, uint32_t node)
{
	const struct dagpatch_recording *recording = dump->recording;
	char kind[KIND_TEXT], indent[64];
	uint32_t depth = node_depth(recording, node), begin = after_begin(recording, node);

	snprintf(indent, sizeof(indent), "%*s", (int)(depth < 24 ? 2 * depth : 48), "");
	put(dump, "%snode %u: %s%s", indent, node, kind_text(recording, node, kind),
	    origin_text(recording, node));
	if (recording->nodes[node].kind == PATCH_KERNEL) {
		const struct patch_kernel *kernel = node_image(recording, node);

		put(dump, ", grid %u %u %u, block %u %u %u", kernel->grid[0], kernel->grid[1],
		    kernel->grid[2], kernel->block[0], kernel->block[1], kernel->block[2]);
	}
	if (own_image_size(recording, node) > 0)
		put(dump, ", %u bytes", own_image_size(recording, node));
	put(dump, "%s\n", is_changed_last(recording, node) ? ", changed last" : "");
	for (uint32_t i = begin; i < recording->after_end[node]; i++)
		put(dump, "%s%s%u%s", i == begin ? indent : "", i == begin ? "  after " : ", ",
		    recording->after[i], i + 1 == recording->after_end[node] ? "\n" : "");
	strncat(indent, "  ", sizeof(indent) - strlen(indent) - 1);
	put_relocations(dump, node, indent, "\n");
}

static void put_text(struct dump *dump)
{
	static const char *const states[] = {"being recorded", "ready", "lost"};
	const struct dagpatch_recording *recording = dump->recording;

	put(dump, "recording for %s: %s, %u nodes, %u slots%s\n", recording->device->driver->name,
	    states[recording->state], recording->node_count, recording->slot_count,
	    recording->flags & DAGPATCH_NESTED ? ", nested"
	    : recording->is_adopted	       ? ", adopted"
					       : "");
	if (recording->last.number > 0)
		put(dump, "last change: by %s, %u nodes, %u slots\n",
		    strategy_text(recording->last.strategy), recording->last.nodes,
		    recording->last.slots);
	put_slots(dump);
	for (uint32_t i = 0; i < recording->node_count; i++)
		put_node(dump, i);
}

/* ---- Graphviz ---- */

/* Escapes TEXT for a quoted string of Graphviz. */
static void put_quoted(struct dump *dump, const char *text)
{
	for (; *text; text++)
		if (*text == '\n')
			put(dump, "\\n");
		else if (*text == '"' || *text == '\\')
			put(dump, "\\%c", *text);
		else
			put(dump, "%c", (unsigned char)*text < ' ' ? ' ' : *text);
}

/* A write function for the label, which escapes the text, because names of slots may contain
 * quotes. */
static int write_quoted(void *user, const char *text, size_t bytes)
{
	struct dump *dump = user;
	char part[512];

	(void)snprintf(part, sizeof(part), "%.*s", (int)bytes, text);
	put_quoted(dump, part);
	return dump->rc;
}

static void put_box(struct dump *dump, uint32_t node)
{
	const struct dagpatch_recording *recording = dump->recording;
	struct dump label = {.recording = recording, .write = write_quoted, .user = dump};
	char kind[KIND_TEXT];
	uint32_t parent = recording->nodes[node].parent;

	put(dump, "n%u [label=\"", node);
	put(&label, "node %u: %s%s", node, kind_text(recording, node, kind),
	    origin_text(recording, node));
	put_relocations(&label, node, "\n", "");
	put(dump, "\"%s]\n",
	    is_changed_last(recording, node) ? " style=filled fillcolor=yellow" : "");
	for (uint32_t i = after_begin(recording, node); i < recording->after_end[node]; i++)
		put(dump, "n%u -> n%u\n", recording->after[i], node);
	if (parent != DAGPATCH_NONE && after_begin(recording, node) == recording->after_end[node])
		put(dump, "n%u -> n%u [style=dashed]\n", parent, node);
}

static void put_graphviz(struct dump *dump)
{
	const struct dagpatch_recording *recording = dump->recording;

	put(dump, "digraph recording {\nnode [shape=box]\n");
	for (uint32_t i = 0; i < recording->node_count; i++)
		put_box(dump, i);
	put(dump, "}\n");
}

int dagpatch_dump(const struct dagpatch_recording *recording, enum dagpatch_dump_format format,
		  dagpatch_write_fn write, void *user)
{
	struct dump dump = {.recording = recording, .write = write, .user = user};

	if (!recording || !write)
		return -EINVAL;
	if (format == DAGPATCH_DUMP_GRAPHVIZ)
		put_graphviz(&dump);
	else if (format == DAGPATCH_DUMP_TEXT)
		put_text(&dump);
	else
		return -EINVAL;
	return dump.rc < 0 ? dump.rc : 0;
}
