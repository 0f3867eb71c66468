/* Every question that the commands ask of a trace. */
#ifndef DAGTAP_FUZZ_ASK_EVERYTHING_H
#define DAGTAP_FUZZ_ASK_EVERYTHING_H

#include "trace/model.h"

void ask_everything(const struct trace *trace);

#endif
