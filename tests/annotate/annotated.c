/*
 * annotated untraced|idle|traced|restarted|late|exec: calls libdagtap and ROCTX in a process in
 * that state. The exit code says whether the calls did what they should.
 */
#include <dagtap/annotate.h>
#include <dagtap/session.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Weak, for a program that has no ROCTX unless the tool provides it. */
#ifndef BESIDE_ROCTX
#pragma weak roctx_version_major
#pragma weak roctxMarkA
#pragma weak roctxRangePushA
#pragma weak roctxRangePop
#pragma weak roctxRangeStartA
#pragma weak roctxRangeStop
#endif

uint32_t roctx_version_major(void);
void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);
int fake_roctx_calls(void);

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

#ifdef BESIDE_ROCTX

static void call_roctx(void)
{
	EXPECT(roctx_version_major() == 77);
	EXPECT(roctxRangePushA("r0") == 1000);
	roctxMarkA("mark");
	EXPECT(roctxRangePop() == 2000);
	EXPECT(roctxRangeStartA("range") == 3000);
	roctxRangeStop(3000);
	EXPECT(fake_roctx_calls() == 5);
}

#else

static void call_roctx(void)
{
	uint64_t range;

	if (!roctxRangePushA)
		return;
	EXPECT(roctx_version_major() == 4);
	EXPECT(roctxRangePushA("r0") == 0);
	EXPECT(roctxRangePushA("r1") == 1);
	roctxMarkA("mark");
	EXPECT(roctxRangePop() == 1);
	EXPECT(roctxRangePop() == 0);
	EXPECT(roctxRangePop() == -1);
	range = roctxRangeStartA("range");
	EXPECT(range != 0 && range != roctxRangeStartA("range left open"));
	roctxRangeStop(range);
}

#endif

static void be_untraced(void)
{
	EXPECT(dagtap_scope_push("a") == 0);
	dagtap_scope_pop();
	dagtap_scope_pop();
	EXPECT(dagtap_scope_push_with("a", NULL, 0) == 0);
	EXPECT(dagtap_step_begin("a", 1) == 0);
	dagtap_step_end();
	EXPECT(dagtap_scope_path(NULL, 0) == 0);
	dagtap_scope_attach(NULL, 0);
	dagtap_scope_detach();
	EXPECT(dagtap_session_start() == 0);
	EXPECT(dagtap_session_is_recording() == 0);
	EXPECT(dagtap_session_path(NULL, 0) == 0);
	dagtap_session_note("nobody hears this");
	dagtap_session_stop();
	call_roctx();
}

static void be_idle(void)
{
	EXPECT(dagtap_scope_push("a") == ((uint64_t)1 << 48 | 1));
	dagtap_scope_pop();
	call_roctx();
	EXPECT(dagtap_session_is_recording() == 0);
}

static void be_traced(void)
{
	EXPECT(dagtap_scope_push("outer") != 0);
	EXPECT(dagtap_session_start() == 1);
	EXPECT(dagtap_session_is_recording() == 1);
	dagtap_session_note("a note");
	EXPECT(dagtap_scope_push("inner") != 0);
	call_roctx();
	dagtap_scope_pop();
	dagtap_scope_pop();
	dagtap_session_stop();
	EXPECT(dagtap_session_is_recording() == 0);
}

static void be_restarted(void)
{
	const struct dagtap_attribute attributes[] = {
		dagtap_attribute_int64("layer", 3),
		dagtap_attribute_text("op", "fusion"),
	};
	uint64_t ids[3], first;
	char path[4096], next[4096];

	EXPECT(dagtap_session_path(path, sizeof(path)) == 0);
	EXPECT(dagtap_session_start() == 1);
	EXPECT(dagtap_session_path(path, sizeof(path)) == strlen(path));
	first = dagtap_step_begin("step", 41);
	EXPECT(first == ((uint64_t)1 << 48 | 1));
	EXPECT(dagtap_scope_push_with("inner", attributes, 2) == first + 1);
	EXPECT(dagtap_scope_path(ids, 3) == 2 && ids[0] == first && ids[1] == first + 1);
	dagtap_session_stop();
	EXPECT(dagtap_scope_push("between") == 0);
	EXPECT(dagtap_scope_path(ids, 3) == 0);
	EXPECT(dagtap_session_path(next, sizeof(next)) == strlen(path));
	EXPECT(strcmp(path, next) == 0 && access(path, R_OK) == 0);
	EXPECT(dagtap_session_start() == 1);
	EXPECT(dagtap_session_path(next, sizeof(next)) == strlen(next));
	EXPECT(strcmp(path, next) != 0 && access(next, R_OK) == 0);
	EXPECT(dagtap_session_path(path, 4) == strlen(next) && strlen(path) == 3);
	EXPECT(dagtap_session_path(NULL, 0) == strlen(next));
	EXPECT(dagtap_scope_push("second") == first + 2);
	ids[0] = first;
	dagtap_scope_attach(ids, 1);
	EXPECT(dagtap_scope_path(ids, 3) == 1 && ids[0] == first);
	dagtap_scope_detach();
	EXPECT(dagtap_scope_path(ids, 3) == 1 && ids[0] == first + 2);
	dagtap_scope_pop();
	dagtap_step_end();
}

/* Loads the tool as HSA_TOOLS_LIB does: into a scope that no other library searches. */
static void be_traced_late(void)
{
	EXPECT(dagtap_session_start() == 0);
	EXPECT(dlopen(getenv("INJECT"), RTLD_LAZY | RTLD_LOCAL) != NULL);
	EXPECT(dagtap_scope_push("late") != 0);
	EXPECT(dagtap_session_start() == 1);
	dagtap_scope_pop();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "untraced"))
		be_untraced();
	else if (!strcmp(mode, "idle"))
		be_idle();
	else if (!strcmp(mode, "traced"))
		be_traced();
	else if (!strcmp(mode, "restarted"))
		be_restarted();
	else if (!strcmp(mode, "late"))
		be_traced_late();
	else if (!strcmp(mode, "exec")) {
		EXPECT(dagtap_session_start() == 1);
		execl("/proc/self/exe", argv[0], "traced", (char *)0);
		return 1;
	} else
		return 2;
	return 0;
}
