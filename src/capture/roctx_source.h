/* The capture source of AMD's roctx (marks and ranges): the wrappers of its symbols and of its
 * dispatch table, which a roctx library may hand over. */
#ifndef DAGTAP_CAPTURE_ROCTX_SOURCE_H
#define DAGTAP_CAPTURE_ROCTX_SOURCE_H

#include "capture/capture_session.h"
#include "capture/dispatch_table.h"

/* Where register.c delivers the table "roctx", and the table's layout. */
extern struct table_door roctx_table;
extern const struct table_layout roctx_table_layout;
/* Writes the SOURCE records "roctx.table", "roctx.control" and "roctx.names". Registered by the
 * library's constructor. */
extern const struct capture_source roctx_source;

#endif
