/* A stand-in for libroctx64, for programs that link with ROCTX. */
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

uint32_t roctx_version_major(void);
uint32_t roctx_version_minor(void);
void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);
int fake_roctx_calls(void);

static int calls;

EXPORT int fake_roctx_calls(void)
{
	return calls;
}

EXPORT uint32_t roctx_version_major(void)
{
	return 77;
}

EXPORT uint32_t roctx_version_minor(void)
{
	return 78;
}

EXPORT void roctxMarkA(const char *message)
{
	calls++;
}

EXPORT int roctxRangePushA(const char *message)
{
	calls++;
	return 1000;
}

EXPORT int roctxRangePop(void)
{
	calls++;
	return 2000;
}

EXPORT uint64_t roctxRangeStartA(const char *message)
{
	calls++;
	return 3000;
}

EXPORT void roctxRangeStop(uint64_t id)
{
	calls += id == 3000;
}
