/* A call of roctx that passes one wrapper or two: that of the symbol, and that of the slot behind
 * it. The first one counts. Threading: any thread. */
#ifndef DAGTAP_CAPTURE_ROCTX_CALL_H
#define DAGTAP_CAPTURE_ROCTX_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/inject.h"
#include "capture/frame.h"

/* Returns the function behind the wrapper at DOOR, which NEXT holds, or that of SYMBOL in a roctx
 * of rocprofiler-sdk; NULL: none. For functions that are called seldom: it looks for a symbol each
 * time that none is known. */
void *roctx_call_next(void *_Atomic *next, unsigned int door, const char *symbol);

/* A wrapper at DOOR is entered. If it is the first of the call, tells the observer of the call,
 * which may call roctx itself. Returns whether it is the first. ARGUMENT and MESSAGE as in struct
 * inject_mark. */
bool roctx_call_enter(unsigned int door, struct inject_mark *ret_mark,
		      enum inject_mark_function function, const char *message, uint64_t argument);

/* The function behind the wrapper has returned, and the wrapper goes on. */
void roctx_call_passed(void);

/* The wrapper returns RESULT. Tells the observer if it was the first. */
void roctx_call_leave(struct inject_mark *mark, uint64_t result);

#endif
