/* A model of librocprofiler-sdk-roctx.so.1: marks, nested ranges, pause and resume, names, by its
 * dispatch tables. */
#include <pthread.h>

#include "model_tables.h"

SHOWN uint32_t model_marks, model_pushes, model_pops, model_pauses, model_resumes, model_names;

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

static uint64_t real_start(const char *message)
{
	return 100;
}

static void real_stop(uint64_t id)
{
}

static int real_thread_id(uint64_t *ret_tid)
{
	*ret_tid = 77;
	return 0;
}

static int real_name_thread(const char *name)
{
	return (int)++model_names;
}

static int real_name_agent(const char *name, const void *agent)
{
	return (int)++model_names;
}

static int real_name_device(const char *name, int device)
{
	return (int)++model_names;
}

static int real_name_stream(const char *name, const void *stream)
{
	return (int)++model_names;
}

static struct {
	size_t size;
	void *functions[6];
} core = {sizeof(core),
	  {(void *)real_mark, (void *)real_push, (void *)real_pop, (void *)real_start,
	   (void *)real_stop, (void *)real_thread_id}};
static struct {
	size_t size;
	void *functions[2];
} control = {sizeof(control), {(void *)real_pause, (void *)real_resume}};
static struct {
	size_t size;
	void *functions[4];
} names = {sizeof(names),
	   {(void *)real_name_thread, (void *)real_name_agent, (void *)real_name_device,
	    (void *)real_name_stream}};
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

SHOWN uint64_t roctxRangeStartA(const char *message)
{
	pthread_once(&once, hand_over);
	return ((uint64_t(*)(const char *))core.functions[3])(message);
}

SHOWN void roctxRangeStop(uint64_t id)
{
	pthread_once(&once, hand_over);
	((void (*)(uint64_t))core.functions[4])(id);
}

SHOWN int roctxGetThreadId(uint64_t *ret_tid)
{
	pthread_once(&once, hand_over);
	return ((int (*)(uint64_t *))core.functions[5])(ret_tid);
}

SHOWN int roctxNameOsThread(const char *name)
{
	pthread_once(&once, hand_over);
	return ((int (*)(const char *))names.functions[0])(name);
}

SHOWN int roctxNameHsaAgent(const char *name, const void *agent)
{
	pthread_once(&once, hand_over);
	return ((int (*)(const char *, const void *))names.functions[1])(name, agent);
}

SHOWN int roctxNameHipDevice(const char *name, int device)
{
	pthread_once(&once, hand_over);
	return ((int (*)(const char *, int))names.functions[2])(name, device);
}

SHOWN int roctxNameHipStream(const char *name, const void *stream)
{
	pthread_once(&once, hand_over);
	return ((int (*)(const char *, const void *))names.functions[3])(name, stream);
}
