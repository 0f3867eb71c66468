/* A model of librocprofiler-sdk-roctx.so.1: marks, nested ranges, pause and resume, by its dispatch
 * tables. */
#include <pthread.h>

#include "model_tables.h"

SHOWN uint32_t model_marks, model_pushes, model_pops, model_pauses, model_resumes;

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

static int real_pause(uint64_t tid)
{
	return (int)++model_pauses;
}

static int real_resume(uint64_t tid)
{
	return (int)++model_resumes;
}

static struct {
	size_t size;
	void *functions[6];
} core = {sizeof(core), {(void *)real_mark, (void *)real_push, (void *)real_pop}};
static struct {
	size_t size;
	void *functions[2];
} control = {sizeof(control), {(void *)real_pause, (void *)real_resume}};
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

SHOWN int roctxProfilerPause(uint64_t tid)
{
	pthread_once(&once, hand_over);
	return ((int (*)(uint64_t))control.functions[0])(tid);
}

SHOWN int roctxProfilerResume(uint64_t tid)
{
	pthread_once(&once, hand_over);
	return ((int (*)(uint64_t))control.functions[1])(tid);
}
