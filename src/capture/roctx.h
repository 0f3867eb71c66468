/* roctx' table of marks and ranges, where a roctx library hands it over. */
#ifndef DAGTAP_CAPTURE_ROCTX_H
#define DAGTAP_CAPTURE_ROCTX_H

#include "capture/session.h"
#include "capture/table.h"

extern struct table_door roctx_table;
extern const struct session_part roctx_part;

#endif
