/* What due_tool.c tells the program that it is loaded into: it is gone when it is asked. */
#ifndef TEST_SOFTGPU_DUE_TOOL_H
#define TEST_SOFTGPU_DUE_TOOL_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

#define DUE_HANDLERS 1000

struct due_story {
	sem_t unloading;
	_Atomic uint32_t ran; /* handlers */
	uint32_t signals_destroyed;
	uint32_t loads, closes;
	uint32_t ran_before_close;
};

/* The program's. */
extern struct due_story due_story __attribute__((visibility("default")));

#endif
