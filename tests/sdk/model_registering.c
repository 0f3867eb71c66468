/* A model of libamdhip64.so.7 that makes its dispatch table in its first call, and registers it
 * then as rocprofiler-register does. Other threads that call it wait for that. */
#include <pthread.h>

#include "model_registering.h"

#define SHOWN __attribute__((visibility("default")))

SHOWN void (*model_entered)(void);
SHOWN void (*model_registers)(void);

static struct model_table table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void slot(void)
{
}

static void make_table(void)
{
	table.bytes = sizeof(table);
	for (int i = 0; i < MODEL_FUNCTIONS; i++)
		table.functions[i] = slot;
	if (model_registers)
		model_registers();
}

SHOWN struct model_table *model_table(void)
{
	return &table;
}

SHOWN const char *hipGetErrorName(int code)
{
	(void)code;
	if (model_entered)
		model_entered();
	pthread_once(&once, make_table);
	return "hipSuccess";
}
