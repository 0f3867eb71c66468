/* A model of librocprofiler-sdk-roctx.so.1: marks and nested ranges, by its dispatch table. */
#include <pthread.h>

#include "model_tables.h"

SHOWN uint32_t model_marks, model_pushes, model_pops;

static void real_mark(const char *message)
{
	model_marks++;
}

static int real_push(const char *message)
{
	return (int)model_pushes++;
}

static int real_pop(void)
{
	return (int)(model_pushes - ++model_pops);
}

static struct {
	size_t size;
	void *functions[6];
} core = {sizeof(core), {(void *)real_mark, (void *)real_push, (void *)real_pop}};
static struct {
	size_t size;
	void *functions[2];
} control = {sizeof(control), {NULL}};
static struct {
	size_t size;
	void *functions[4];
} names = {sizeof(names), {NULL}};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void hand_over(void)
{
	void *tables[] = {&core, &control, &names};

	model_hand_over("roctx", 10000, 0, tables, 3);
}

SHOWN void roctxMarkA(const char *message)
{
	pthread_once(&once, hand_over);
	((void (*)(const char *))core.functions[0])(message);
}

SHOWN int roctxRangePushA(const char *message)
{
	pthread_once(&once, hand_over);
	return ((int (*)(const char *))core.functions[1])(message);
}

SHOWN int roctxRangePop(void)
{
	pthread_once(&once, hand_over);
	return ((int (*)(void))core.functions[2])();
}
