/* An XSpace, taken apart for tests: everything by name. Independent of the reader that ships. */
#ifndef DAGTAP_TESTS_FORMAT_XSPACE_DECODE_H
#define DAGTAP_TESTS_FORMAT_XSPACE_DECODE_H

#include "decode.h"

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

/* Fails the test if there is none, or more than one. */
struct xplane xspace_plane(const struct message *space, const char *name);
bool xspace_has_plane(const struct message *space, const char *name);

unsigned xplane_count_lines(const struct xplane *plane);
/* The INDEX-th line; its name is copied to NAME. */
struct message xplane_line(const struct xplane *plane, unsigned index, char name[128]);
struct message xplane_find_line(const struct xplane *plane, const char *name);

unsigned xline_count_events(const struct message *line);
struct xevent xline_event(const struct xplane *plane, const struct message *line, unsigned index);
/* The INDEX-th of that name in any line of the plane; fails the test if there is none. */
struct xevent xplane_event(const struct xplane *plane, const char *name, unsigned index);
unsigned xplane_count_events(const struct xplane *plane, const char *name);

/* Kinds are the fields' numbers: enum xstat_field. 0: there is no such stat. */
struct xvalue {
	uint32_t kind;
	uint64_t number;
	char text[512]; /* also of a reference */
};

struct xvalue xevent_stat(const struct xevent *event, const char *name);
struct xvalue xplane_stat(const struct xplane *plane, const char *name);

/* Every rule that a reader relies on and that can be seen in any file: ids have metadata, names are
 * unique, offsets are there, lines have ids of their own, events are in order and do not overlap in
 * part. */
void xspace_check(const struct message *space);

#endif
