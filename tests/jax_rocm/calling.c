/*
 * Calls each function of called.c once. Built several times, once for each way of binding a call;
 * CALLING is the exported name. Returns 0 if every call returned the expected value.
 */
#include "called.h"

int CALLING(void);

/* The loader fills these words with addresses, without PLT entries. */
static int (*const table[])(void) = {hipCalledByTable, hipCalledByTable};

int CALLING(void)
{
	double sum = hipCalledSum(1, 2, 3, 4, 5, 6, 7, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5);
	int count = ncclCalled() + __hipCalled() + hipCalledPlain() + hipCalledInside() +
		    called_otherwise() + hip_called_value;

	for (int i = 0; i < 2; i++)
		count += (*(int (*const volatile *)(void)) & table[i])();
	return sum == 140 + 186 && count == 8 ? 0 : 1;
}
