/* Runs every question that the commands ask of a trace on a loaded model, for the fuzz targets. */
#ifndef DAGTAP_FUZZ_ASK_EVERYTHING_H
#define DAGTAP_FUZZ_ASK_EVERYTHING_H

#include "trace/trace_model.h"

/* Calls every analysis and every writer on TRACE, and ignores what they return. */
void ask_everything(const struct trace *trace);

#endif
