#include "step.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "capture/session.h"

#define BUSY_LIMIT_NS 3000000

/* The linker's: where this program's instructions are. */
extern const char __executable_start[], etext[];

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool is_made;
	void (*call)(void); /* NULL: it has returned */
	uint32_t until;
	uint32_t count;
	atomic_bool is_held, may_go;
} stepped = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void hold(void)
{
	const struct timespec pause = {.tv_nsec = 20000};
	const struct writer *w = session_thread_writer;
	bool is_busy = w && writer_is_busy(w);
	uint64_t begin_ns = session_now_ns();

	atomic_store(&stepped.is_held, true);
	while (!atomic_load(&stepped.may_go) &&
	       !(is_busy && session_now_ns() - begin_ns > BUSY_LIMIT_NS))
		nanosleep(&pause, NULL);
}

static void trapped(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;
	uintptr_t pc = (uintptr_t)at->uc_mcontext.gregs[REG_RIP];

	if (pc >= (uintptr_t)__executable_start && pc < (uintptr_t)etext &&
	    ++stepped.count == stepped.until)
		hold();
}

/* The trap flag; the red zone below the stack pointer may be in use. */
#define TRAP_FLAG(change)                                                                          \
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"                                              \
			 "pushfq\n\t" change "\n\t"                                                \
			 "popfq\n\t"                                                               \
			 "lea 128(%%rsp), %%rsp" ::                                                \
				 : "memory", "cc")

static void step_through(void (*call)(void))
{
	stepped.count = 0;
	TRAP_FLAG("orq $0x100, (%%rsp)");
	call();
	TRAP_FLAG("andq $~0x100, (%%rsp)");
}

static void *run_calls(void *unused)
{
	pthread_mutex_lock(&stepped.lock);
	for (;;) {
		while (!stepped.call)
			pthread_cond_wait(&stepped.changed, &stepped.lock);
		pthread_mutex_unlock(&stepped.lock);
		step_through(stepped.call);
		pthread_mutex_lock(&stepped.lock);
		stepped.call = NULL;
		pthread_cond_broadcast(&stepped.changed);
	}
	return unused;
}

static void make_thread(void)
{
	const struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
	stepped.is_made = !pthread_create(&stepped.thread, NULL, run_calls, NULL);
	if (!stepped.is_made)
		_exit(1);
}

static bool has_returned(void)
{
	bool returned;

	pthread_mutex_lock(&stepped.lock);
	returned = !stepped.call;
	pthread_mutex_unlock(&stepped.lock);
	return returned;
}

bool step_until(uint32_t n, void (*call)(void), void (*meanwhile)(void))
{
	const struct timespec pause = {.tv_nsec = 20000};
	bool is_held;

	if (!stepped.is_made)
		make_thread();
	atomic_store(&stepped.is_held, false);
	atomic_store(&stepped.may_go, false);
	stepped.until = n;
	pthread_mutex_lock(&stepped.lock);
	stepped.call = call;
	pthread_cond_broadcast(&stepped.changed);
	pthread_mutex_unlock(&stepped.lock);
	while (!atomic_load(&stepped.is_held) && !has_returned())
		nanosleep(&pause, NULL);
	is_held = atomic_load(&stepped.is_held);
	if (is_held)
		meanwhile();
	atomic_store(&stepped.may_go, true);
	pthread_mutex_lock(&stepped.lock);
	while (stepped.call)
		pthread_cond_wait(&stepped.changed, &stepped.lock);
	pthread_mutex_unlock(&stepped.lock);
	return is_held;
}
