/* roctxNameOsThread, roctxNameHsaAgent, roctxNameHipDevice and roctxNameHipStream: the observer is
 * told of them; the recording does not have the names. A program reaches them by symbol, or through
 * the third of the tables that a roctx library hands over. */
#ifndef DAGTAP_CAPTURE_ROCTX_NAMES_H
#define DAGTAP_CAPTURE_ROCTX_NAMES_H

#include "capture/dispatch_table.h"

/* Where register.c delivers that table, and the table's layout. */
extern struct table_door roctx_names_table;
extern const struct table_layout roctx_names_layout;

#endif
