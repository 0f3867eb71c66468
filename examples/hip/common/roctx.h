/*
 * ROCTX through weak references: the ranges are recorded when a tracer or libroctx64 provides the
 * functions, and cost one test when nothing provides them.
 */
#ifndef ROCTX_H
#define ROCTX_H

extern int roctxRangePushA(const char *message) __attribute__((weak));
extern int roctxRangePop(void) __attribute__((weak));

static inline void roctx_push(const char *message)
{
	if (roctxRangePushA)
		roctxRangePushA(message);
}

static inline void roctx_pop(void)
{
	if (roctxRangePop)
		roctxRangePop();
}

#endif
