/* A part of advise.h: sets of parameters that come back. */
#ifndef DAGTAP_ANALYZE_ADVISE_SETS_H
#define DAGTAP_ANALYZE_ADVISE_SETS_H

#include "analyze/advise.h"

/* Fills ADVICE->sets, which is empty. 0, or -ENOMEM. */
int advise_sets(const struct trace *trace, struct advice *advice);

#endif
