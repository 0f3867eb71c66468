/* What due_tool.c tells the program that loads it. The struct is in the program, because the
 * tool is already unloaded when the program reads it. */
#ifndef TEST_SOFTGPU_DUE_TOOL_H
#define TEST_SOFTGPU_DUE_TOOL_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

#define DUE_HANDLERS 1000 /* handlers that the tool registers */

/* Written by the tool, read by the program after hsa_shut_down. */
struct due_story {
	sem_t unloading;	    /* posted by OnUnload; the first handler waits for it */
	_Atomic uint32_t ran;	    /* handlers that ran */
	uint32_t signals_destroyed; /* successful destroy calls of the handlers */
	uint32_t loads, closes;	    /* OnLoad calls; destructor calls */
	uint32_t ran_before_close;  /* value of ran when the tool's destructor ran */
};

/* Defined by the program, used by the tool. */
extern struct due_story due_story __attribute__((visibility("default")));

#endif
