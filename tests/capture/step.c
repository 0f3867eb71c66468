/* Single-steps a thread with the x86-64 trap flag and SIGTRAP: step.h. */
#include "step.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "capture/capture_session.h"
#include "record/spooler.h"

/* The linker defines these: the range of this program's instructions. */
extern const char __executable_start[], etext[];

/*
 * The caller and the stepped thread take turns; the one whose turn it is owns the fields that are
 * not atomic.
 */
static struct {
	bool is_made;
	pthread_t thread;
	sem_t call_wanted;
	sem_t stopped; /* posted when it is held or CALL has returned */
	sem_t go_on;
	void (*call)(void);
	void (*at_stop)(void); /* called on the stepped thread */
	uint32_t until;
	uint32_t count;
	bool has_returned;
	_Atomic bool is_held;
	struct spooler *written; /* of the record that the held thread is writing; NULL: none */
} stepped;

static void await(sem_t *event)
{
	while (sem_wait(event))
		;
}

static void dropped(void)
{
	if (atomic_exchange(&stepped.is_held, false))
		sem_post(&stepped.go_on);
}

/* The spooler calls this between two looks at a writer that is writing a record. */
int nanosleep(const struct timespec *pause, struct timespec *left)
{
	if (atomic_load(&stepped.is_held) && stepped.written && spooler_is_closing(stepped.written))
		dropped();
	return (int)syscall(SYS_nanosleep, pause, left);
}

static void hold(void)
{
	const struct writer *w = session_thread_writer;

	stepped.written = w && writer_is_busy(w) ? w->spooler : NULL;
	atomic_store(&stepped.is_held, true);
	sem_post(&stepped.stopped);
	await(&stepped.go_on);
}

#define TRAP_BIT 0x100

static void trapped(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;
	uintptr_t pc = (uintptr_t)at->uc_mcontext.gregs[REG_RIP];

	if (pc < (uintptr_t)__executable_start || pc >= (uintptr_t)etext ||
	    ++stepped.count != stepped.until)
		return;
	stepped.at_stop();
	/* The rest of the call runs without traps, which take most of the time. */
	at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_BIT;
}

/* Changes the trap flag. Skips the red zone below the stack pointer, which may be in use. */
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

bool traps_pause(void)
{
	uint64_t flags;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "pushfq\n\t"
			 "popq %0\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : "=r"(flags)
			 :
			 : "memory");
	TRAP_FLAG("andq $~0x100, (%%rsp)");
	return flags & TRAP_BIT;
}

void traps_resume(bool were_on)
{
	if (were_on)
		TRAP_FLAG("orq $0x100, (%%rsp)");
}

static void *run_calls(void *unused)
{
	for (;;) {
		await(&stepped.call_wanted);
		step_through(stepped.call);
		stepped.has_returned = true;
		sem_post(&stepped.stopped);
	}
	return unused;
}

static void catch_traps(void)
{
	const struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
}

static void make_thread(void)
{
	sem_init(&stepped.call_wanted, 0, 0);
	sem_init(&stepped.stopped, 0, 0);
	sem_init(&stepped.go_on, 0, 0);
	catch_traps();
	stepped.is_made = !pthread_create(&stepped.thread, NULL, run_calls, NULL);
	if (!stepped.is_made)
		_exit(1);
}

bool step_until(uint32_t n, void (*call)(void), void (*meanwhile)(void))
{
	bool was_held;

	if (!stepped.is_made)
		make_thread();
	stepped.until = n;
	stepped.call = call;
	stepped.at_stop = hold;
	stepped.has_returned = false;
	sem_post(&stepped.call_wanted);
	await(&stepped.stopped);
	was_held = !stepped.has_returned;
	if (was_held) {
		meanwhile();
		dropped();
		await(&stepped.stopped);
	}
	return was_held;
}

bool interrupt_at(uint32_t n, void (*call)(void), void (*handler)(void))
{
	catch_traps();
	stepped.until = n;
	stepped.at_stop = handler;
	step_through(call);
	return stepped.count >= n;
}
