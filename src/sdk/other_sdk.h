/* Another rocprofiler-sdk in this process: AMD's, or a copy of this library.
 *
 * Where there is one, this library steps back: it configures no tool, and hands dispatch tables to
 * the other one. Of two copies of this library the one that was loaded first stays. Any thread;
 * takes the loader's lock. */
#ifndef DAGTAP_SDK_OTHER_SDK_H
#define DAGTAP_SDK_OTHER_SDK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether there is one for which this library steps back; copies its path to RET_PATH, which may be
 * NULL. */
bool other_sdk_find(char *ret_path, size_t bytes);

/* SYMBOL of that library; NULL: there is none. */
void *other_sdk_symbol(const char *symbol);

/* Writes into the recording that is on which library there is, if there is one: this library gives
 * no records, or, if HAS_TOOL, its tool was configured before the other one was loaded. */
void other_sdk_note(bool has_tool);

#endif
