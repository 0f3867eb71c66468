/* Adds attributes to the event that is written next; writing it empties the list. */
#ifndef DAGTAP_FORMAT_OTF2_ADD_H
#define DAGTAP_FORMAT_OTF2_ADD_H

#include "format/otf2/otf2.h"

static inline void otf2_add_u64(struct otf2 *otf2, enum otf2_attribute name, uint64_t value)
{
	otf2_check(otf2, OTF2_AttributeList_AddUint64(otf2->attributes, name, value));
}

static inline void otf2_add_u32(struct otf2 *otf2, enum otf2_attribute name, uint32_t value)
{
	otf2_check(otf2, OTF2_AttributeList_AddUint32(otf2->attributes, name, value));
}

static inline void otf2_add_string(struct otf2 *otf2, enum otf2_attribute name, uint32_t string)
{
	otf2_check(otf2, OTF2_AttributeList_AddStringRef(otf2->attributes, name, string));
}

static inline void otf2_add_launch(struct otf2 *otf2, const struct trace_launch *launch)
{
	otf2_add_u64(otf2, OTF2_ATTRIBUTE_EXEC, otf2->trace->execs[launch->exec].id);
	otf2_add_u64(otf2, OTF2_ATTRIBUTE_REPLAY, launch->replay);
}

#endif
