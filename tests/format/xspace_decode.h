/*
 * Decodes an XSpace for the tests, with access by name. Shares no code with src/format's reader. A
 * function fails the test when it does not find what it returns, unless its contract says
 * otherwise. The structs refer to the XSpace's bytes, which must stay valid.
 */
#ifndef DAGTAP_TESTS_FORMAT_XSPACE_DECODE_H
#define DAGTAP_TESTS_FORMAT_XSPACE_DECODE_H

#include "proto_decode.h"

struct xplane {
	struct message bytes;
	uint64_t id;
};

struct xevent {
	struct xplane plane;
	struct message bytes;
	char name[128];
	uint64_t offset_ps;
	uint64_t duration_ps;
	bool has_offset;
};

/* Returns the plane called NAME; fails the test if there is none or more than one. */
struct xplane xspace_plane(const struct message *space, const char *name);
bool xspace_has_plane(const struct message *space, const char *name);

/* Number of lines of the plane. */
unsigned xplane_count_lines(const struct xplane *plane);
/* Returns the INDEX-th line and copies its name to NAME. */
struct message xplane_line(const struct xplane *plane, unsigned index, char name[128]);
struct message xplane_find_line(const struct xplane *plane, const char *name);

/* Number of events of the line, and its INDEX-th event with the stats and names of PLANE. */
unsigned xline_count_events(const struct message *line);
struct xevent xline_event(const struct xplane *plane, const struct message *line, unsigned index);
/* Returns the INDEX-th event of that name in any line of the plane. */
struct xevent xplane_event(const struct xplane *plane, const char *name, unsigned index);
unsigned xplane_count_events(const struct xplane *plane, const char *name);

/* A stat's value. KIND is the field's number, enum xstat_field; 0: there is no such stat. */
struct xvalue {
	uint32_t kind;
	uint64_t number;
	char text[512]; /* also for a reference */
};

/* Return the stat called NAME; kind is 0 if there is none. */
struct xvalue xevent_stat(const struct xevent *event, const char *name);
struct xvalue xplane_stat(const struct xplane *plane, const char *name);

/*
 * Asserts all rules that readers rely on and that can be checked in any file: ids have metadata,
 * names are unique, offsets are present, lines have different ids, events are sorted and do not
 * overlap in part.
 */
void xspace_check(const struct message *space);

#endif
