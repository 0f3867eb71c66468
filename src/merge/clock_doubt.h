/* How far pieces that were laid through the moments of a steady clock (merge/clock_steady.h) may be
 * from the host's clock between these. It follows from the moments and from what is assumed of the
 * rate, and not from how the pieces were found.
 *
 * Threading: functions of their arguments. Cost: time linear in the moments. */
#ifndef DAGTAP_MERGE_CLOCK_DOUBT_H
#define DAGTAP_MERGE_CLOCK_DOUBT_H

#include "merge/clock_steady.h"

/* Gives the joints of TO, which is possible, their uncertainties, by the three or more moments of
 * CLOCK, which are right to ERROR_NS. There must be joints at the first moment and at the last, at
 * most one between two neighbouring moments, and at most one before all and one behind all. Adds
 * joints around spans whose uncertainty is larger than that of the others. */
void clock_doubt_set(const struct steady_clock *clock, double error_ns, struct rank_clock *to);

#endif
