/* Calls each function of called.c once. Built several times, so that each way of binding a call is
 * there: CALLING is the exported name. 0: every call returned what it must. */
#include "called.h"

int CALLING(void);

/* Words that the loader fills with addresses, without a PLT entry. */
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
