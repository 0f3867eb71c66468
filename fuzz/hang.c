/* In each fuzz target: reports the current input as a crash when the process reaches the limit of
 * CPU time that scripts/fuzz.sh sets. libFuzzer then writes the input to a file; without this, the
 * signal would end the process and the input would be lost. */
#include <signal.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

static void report_hang(int signal_number)
{
	abort();
}

/* libFuzzer calls this before the first input. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	return signal(SIGXCPU, report_hang) == SIG_ERR ? -1 : 0;
}
