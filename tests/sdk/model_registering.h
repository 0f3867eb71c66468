/* The model of HIP that test_sdk_hand_over.c is linked to. */
#ifndef DAGTAP_MODEL_REGISTERING_H
#define DAGTAP_MODEL_REGISTERING_H

#include <stdint.h>

#define MODEL_FUNCTIONS 450

struct model_table {
	uint64_t bytes;
	void (*functions[MODEL_FUNCTIONS])(void);
};

/* Its table, which lies in the library's data. */
struct model_table *model_table(void);

/* Called, unless NULL, at the entry of each call, and inside of the first one. */
extern void (*model_entered)(void);
extern void (*model_registers)(void);

const char *hipGetErrorName(int code);

#endif
