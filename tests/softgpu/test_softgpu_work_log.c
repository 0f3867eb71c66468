/* The work log. This process reads its own file while the device runs, to check the lines for
 * packets and copies. Roles, for which this program is started again, show what is left of the
 * file however a process ends. */
#include <dirent.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <dagtap/softgpu.h>

#include "../launched.h"
#include "aql.h"
#include "work_log_lines.h"

#define QUEUES	   3
#define DISPATCHES 40	 /* per queue in this process */
#define MANY	   15000 /* by a role; more than one step of the file's growth holds */

static const char *self;
static char folder[TEST_PATH_BYTES];
static struct aql aql;

static char *path_in_folder(const char *name, pid_t pid)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s.%d", folder, name, (int)pid);
	return path;
}

/* ---- packets ---- */

static hsa_queue_t *queue_on(int gpu)
{
	hsa_queue_t *queue;

	assert_int_equal(hsa_queue_create(aql.machine.gpu[gpu], 16, HSA_QUEUE_TYPE_MULTI, NULL,
					  NULL, UINT32_MAX, UINT32_MAX, &queue),
			 HSA_STATUS_SUCCESS);
	return queue;
}

static uint64_t *kernarg_of_queue[QUEUES];

/* Dispatch I of queue Q. */
static hsa_kernel_dispatch_packet_t packet_of(int q, int i, hsa_signal_t done)
{
	hsa_kernel_dispatch_packet_t packet =
		aql_dispatch(i % 2 ? aql.scale : aql.count, kernarg_of_queue[q],
			     i % 5 ? AQL_OVERLAP : AQL_BARRIER, i % 3 ? (hsa_signal_t){0} : done);

	packet.setup = 3;
	packet.grid_size_x = (uint32_t)(64 * (i + 1));
	packet.grid_size_y = (uint32_t)(i + 2);
	packet.grid_size_z = (uint32_t)(q + 1);
	packet.workgroup_size_x = 32;
	packet.workgroup_size_y = 2;
	packet.workgroup_size_z = (uint16_t)(q + 1);
	return packet;
}

static void expect_dispatch(int line, int q, int i)
{
	hsa_kernel_dispatch_packet_t packet = packet_of(q, i, (hsa_signal_t){1});

	work_log_expect(line, TYPE, "dispatch");
	work_log_expect(line, KERNEL, i % 2 ? "scale" : "count");
	assert_int_equal(work_log_number(line, GRID), packet.grid_size_x);
	assert_int_equal(work_log_number(line, GRID + 1), packet.grid_size_y);
	assert_int_equal(work_log_number(line, GRID + 2), packet.grid_size_z);
	assert_int_equal(work_log_number(line, WORKGROUP), packet.workgroup_size_x);
	assert_int_equal(work_log_number(line, WORKGROUP + 1), packet.workgroup_size_y);
	assert_int_equal(work_log_number(line, WORKGROUP + 2), packet.workgroup_size_z);
	assert_int_equal(work_log_number(line, KERNARG), (uintptr_t)kernarg_of_queue[q]);
	assert_int_equal(work_log_number(line, SIGNAL), packet.completion_signal.handle != 0);
	assert_true(work_log_number(line, END) >=
		    work_log_number(line, BEGIN) + 100); /* 1,000 ns */
}

/* Checks that the lines of this queue are its packets in order. */
static void expect_queue(int q, const hsa_queue_t *queue)
{
	static const char *const last[] = {"barrier_or", "vendor", "agent_dispatch", "barrier_and"};
	uint64_t next = 0;

	for (int i = 0; i < work_log.count; i++) {
		if (!*work_log.line[i][QUEUE] || work_log_number(i, QUEUE) != queue->id)
			continue;
		assert_int_equal(work_log_number(i, INDEX), next);
		assert_int_equal(work_log_number(i, AGENT), q < 2 ? 1 : 2);
		work_log_expect(i, BYTES, "");
		if (next < DISPATCHES) {
			expect_dispatch(i, q, (int)next);
		} else {
			work_log_expect(i, TYPE, last[next - DISPATCHES]);
			work_log_expect(i, KERNEL, "");
			work_log_expect(i, GRID, "");
			assert_true(work_log_number(i, END) >= work_log_number(i, BEGIN));
		}
		next++;
	}
	assert_int_equal(next, DISPATCHES + 4);
}

static void put_others(hsa_queue_t *queue)
{
	static const hsa_packet_type_t types[] = {HSA_PACKET_TYPE_BARRIER_OR,
						  HSA_PACKET_TYPE_VENDOR_SPECIFIC,
						  HSA_PACKET_TYPE_AGENT_DISPATCH};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		hsa_barrier_and_packet_t packet =
			aql_barrier(types[i], AQL_BARRIER, (hsa_signal_t){0});

		aql_submit(queue, &packet);
	}
	aql_drain(queue);
}

static void each_packet_of_each_queue_has_its_line(void **state)
{
	hsa_queue_t *queue[QUEUES] = {queue_on(0), queue_on(0), queue_on(1)};
	hsa_signal_t done = aql_signal(QUEUES * DISPATCHES);

	for (int q = 0; q < QUEUES; q++) {
		kernarg_of_queue[q] = machine_allocate(aql.machine.kernarg, 4096);
		kernarg_of_queue[q][0] = (uint64_t)(uintptr_t)&kernarg_of_queue[q][1];
	}
	for (int i = 0; i < DISPATCHES; i++) {
		for (int q = 0; q < QUEUES; q++) {
			hsa_kernel_dispatch_packet_t packet = packet_of(q, i, done);

			aql_submit(queue[q], &packet);
		}
	}
	for (int q = 0; q < QUEUES; q++)
		put_others(queue[q]);
	work_log_read(path_in_folder("log", getpid()));
	for (int q = 0; q < QUEUES; q++)
		expect_queue(q, queue[q]);
	assert_int_equal(work_log.count, QUEUES * (DISPATCHES + 4));
	assert_int_equal(work_log_count("dispatch"), aql_counter("packets_kernel_dispatch"));
	assert_int_equal(work_log_count("barrier_and"), aql_counter("packets_barrier_and"));
	assert_int_equal(work_log_count("barrier_or"), aql_counter("packets_barrier_or"));
	assert_int_equal(work_log_count("vendor"), aql_counter("packets_vendor"));
	assert_int_equal(work_log_count("agent_dispatch"), aql_counter("packets_agent_dispatch"));
	for (int q = 0; q < QUEUES; q++)
		hsa_queue_destroy(queue[q]);
	hsa_signal_destroy(done);
}

/* A program that sees the read index advance must find the packet's line in the log. */
static void a_line_is_there_before_the_slot_is_free(void **state)
{
	hsa_queue_t *queue = queue_on(0);
	hsa_kernel_dispatch_packet_t packet =
		aql_dispatch(aql.scale, NULL, AQL_BARRIER, (hsa_signal_t){0});

	softgpu_clock_hold();
	aql_submit(queue, &packet);
	while (!hsa_queue_load_read_index_scacquire(queue))
		sched_yield();
	work_log_read(path_in_folder("log", getpid()));
	assert_int_equal(work_log_number(work_log.count - 1, QUEUE), queue->id);
	work_log_expect(work_log.count - 1, KERNEL, "scale");
	work_log_expect(work_log.count - 1, END, "?                   ");
	softgpu_clock_release();
	aql_drain(queue);
	work_log_read(path_in_folder("log", getpid()));
	assert_true(work_log_number(work_log.count - 2, END) >
		    work_log_number(work_log.count - 2, BEGIN));
	hsa_queue_destroy(queue);
}

static void an_unknown_kernel_and_a_bad_packet_have_lines(void **state)
{
	hsa_queue_t *queue = queue_on(1);
	hsa_kernel_dispatch_packet_t packet =
		aql_dispatch(4096, NULL, AQL_BARRIER, (hsa_signal_t){0});
	hsa_barrier_and_packet_t bad = aql_barrier(9, AQL_BARRIER, (hsa_signal_t){0});

	aql_submit(queue, &packet);
	aql_submit(queue, &bad);
	assert_int_equal(softgpu_await("packets_invalid_type", 1), 0);
	work_log_read(path_in_folder("log", getpid()));
	work_log_expect(work_log.count - 2, KERNEL, "?");
	work_log_expect(work_log.count - 1, TYPE, "invalid");
	hsa_queue_destroy(queue);
}

/* ---- copies ---- */

static void expect_copy(int line, uint64_t agent, size_t bytes, uint64_t from, uint64_t to)
{
	work_log_expect(line, TYPE, "copy");
	assert_int_equal(work_log_number(line, AGENT), agent);
	assert_int_equal(work_log_number(line, BYTES), bytes);
	assert_int_equal(work_log_number(line, SOURCE), from);
	assert_int_equal(work_log_number(line, DESTINATION), to);
	work_log_expect(line, QUEUE, "");
	assert_true(work_log_number(line, END) > work_log_number(line, BEGIN));
}

static void each_copy_has_its_line(void **state)
{
	const struct machine *machine = &aql.machine;
	char *first = machine_allocate(machine->vram[0], 4096);
	char *second = machine_allocate(machine->vram[1], 4096);
	char *host = machine_allocate(machine->fine, 4096);
	const hsa_pitched_ptr_t to = {host, 64, 0}, from = {second, 64, 0};
	const hsa_dim3_t zero = {0, 0, 0}, range = {16, 4, 1};
	hsa_signal_t done = aql_signal(1);

	hsa_amd_memory_async_copy(first, machine->gpu[0], host, machine->cpu, 4096, 0, NULL, done);
	aql_wait(done);
	hsa_signal_store_screlease(done, 1);
	hsa_amd_memory_async_copy(second, machine->gpu[1], first, machine->gpu[0], 100, 0, NULL,
				  done);
	aql_wait(done);
	hsa_signal_store_screlease(done, 1);
	assert_int_equal(hsa_amd_memory_async_copy_rect(&to, &zero, &from, &zero, &range,
							machine->gpu[1], hsaDeviceToHost, 0, NULL,
							done),
			 HSA_STATUS_SUCCESS);
	aql_wait(done);
	work_log_read(path_in_folder("log", getpid()));
	expect_copy(work_log.count - 3, 1, 4096, 0, 1);
	expect_copy(work_log.count - 2, 1, 100, 1, 2);
	expect_copy(work_log.count - 1, 2, 64, 2, 0);
	assert_int_equal(work_log_count("copy"), aql_counter("copies_begun"));
	hsa_signal_destroy(done);
}

/* ---- how a process ends ---- */

static void role_dispatch(void)
{
	uint64_t *kernarg = machine_allocate(aql.machine.kernarg, 4096);
	hsa_queue_t *queue = queue_on(0);

	kernarg[0] = (uint64_t)(uintptr_t)&kernarg[1];
	for (int i = 0; i < MANY; i++) {
		hsa_kernel_dispatch_packet_t packet =
			aql_dispatch(aql.count, kernarg, AQL_BARRIER, (hsa_signal_t){0});

		aql_submit(queue, &packet);
	}
	aql_drain(queue);
}

static void exit_in_handler(int signal)
{
	exit(signal);
}

static int role_fork(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child)
		exit(hsa_init() == HSA_STATUS_ERROR_OUT_OF_RESOURCES ? 7 : 8);
	waitpid(child, &status, 0);
	return status == 7 << 8 ? 0 : 1;
}

static int play_role(const char *role)
{
	if (!strcmp(role, "idle"))
		return 0;
	setenv("DAGTAP_SOFTGPU", getenv("ROLE_CONFIGURATION"), 1);
	if (!strcmp(role, "refused"))
		return hsa_init() == HSA_STATUS_ERROR_INVALID_ARGUMENT ? 0 : 1;
	aql_open(getenv("ROLE_CONFIGURATION"), &aql);
	role_dispatch();
	if (!strcmp(role, "_exit"))
		_exit(0);
	if (!strcmp(role, "kill"))
		raise(SIGKILL);
	if (!strcmp(role, "handler")) {
		signal(SIGUSR1, exit_in_handler);
		raise(SIGUSR1);
	}
	if (!strcmp(role, "fork"))
		return role_fork();
	if (!strcmp(role, "exec"))
		execl(self, self, "plain", (char *)NULL);
	return 0;
}

/* Runs ROLE with the log NAME; returns its wait status. */
static int run_role(const char *role, const char *name, pid_t *ret_pid)
{
	char configuration[TEST_PATH_BYTES * 3];
	int status = -1;
	pid_t child;

	snprintf(configuration, sizeof(configuration),
		 "gfx906,kernel_ns=0,report=%s/report.%%p,work_log=%s/%s", folder, folder, name);
	child = fork();
	if (!child) {
		setenv("ROLE_CONFIGURATION", configuration, 1);
		execl(self, self, role, (char *)NULL);
		_exit(126);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	*ret_pid = child;
	return status;
}

static int files_named(const char *prefix)
{
	DIR *stream = opendir(folder);
	int count = 0;

	assert_non_null(stream);
	for (struct dirent *entry; (entry = readdir(stream));)
		count += !strncmp(entry->d_name, prefix, strlen(prefix));
	closedir(stream);
	return count;
}

static uint64_t reported(pid_t pid, const char *counter)
{
	char text[8192], wanted[64];
	FILE *file = fopen(path_in_folder("report", pid), "r");
	const char *at;
	size_t length;

	assert_non_null(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	snprintf(wanted, sizeof(wanted), "\"%s\": ", counter);
	at = strstr(text, wanted);
	assert_non_null(at);
	return strtoull(at + strlen(wanted), NULL, 10);
}

/* Checks that all work of a role is in the file, and that no byte follows the totals. */
static void expect_complete(pid_t pid)
{
	char process[64];

	snprintf(process, sizeof(process), "#process\tpid=%d", (int)pid);
	assert_string_equal(work_log.process, process);
	assert_int_equal(work_log_count("dispatch"), MANY);
	assert_int_equal(work_log.count, MANY + 1);
	assert_non_null(work_log.total);
	assert_int_equal(work_log.used, work_log.size);
	assert_int_equal(work_log_total("dispatch"), reported(pid, "packets_kernel_dispatch"));
	assert_int_equal(work_log_total("dispatch"), MANY);
	assert_int_equal(work_log_total("barrier_and"), reported(pid, "packets_barrier_and"));
	assert_int_equal(work_log_total("barrier_or"), 0);
	assert_int_equal(work_log_total("copy"), reported(pid, "copies_begun"));
	assert_int_equal(work_log_total("copy_bytes"), reported(pid, "copy_bytes"));
	assert_int_equal(work_log_total("doorbells"), reported(pid, "doorbells"));
	assert_int_equal(work_log_total("lost"), 0);
}

static void a_process_that_returns_or_exits_in_a_handler_leaves_totals(void **state)
{
	pid_t pid;

	assert_int_equal(run_role("plain", "returned", &pid), 0);
	work_log_read(path_in_folder("returned", pid));
	expect_complete(pid);
	assert_int_equal(run_role("handler", "handler", &pid), SIGUSR1 << 8);
	work_log_read(path_in_folder("handler", pid));
	expect_complete(pid);
}

/* After _exit or SIGKILL the file has all lines of packets and copies; only the totals are
 * missing. */
static void a_killed_process_loses_the_totals_alone(void **state)
{
	static const char *const roles[] = {"_exit", "kill"};
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(run_role(roles[i], roles[i], &pid), i ? SIGKILL : 0);
		work_log_read(path_in_folder(roles[i], pid));
		assert_int_equal(work_log_count("dispatch"), MANY);
		assert_int_equal(work_log.count, MANY + 1);
		assert_null(work_log.total);
		assert_true(work_log.size > work_log.used);
		for (size_t at = work_log.used; at < work_log.size; at++)
			assert_int_equal(work_log.text[at], 0);
	}
}

/* A fork child must not write the parent's log. */
static void a_forked_child_leaves_the_log_alone(void **state)
{
	pid_t pid;

	assert_int_equal(run_role("fork", "forked", &pid), 0);
	assert_int_equal(files_named("forked"), 1);
	work_log_read(path_in_folder("forked", pid));
	expect_complete(pid);
}

/* If the file exists, as after exec in the same process, the log goes to another file. */
static void a_file_that_exists_is_never_written(void **state)
{
	pid_t pid;

	assert_int_equal(run_role("exec", "twice%p.log", &pid), 0);
	assert_int_equal(files_named("twice"), 2);
	for (int i = 0; i < 2; i++) {
		char path[TEST_PATH_BYTES * 2];

		snprintf(path, sizeof(path), "%s/twice%d.log%s", folder, (int)pid, i ? ".1" : "");
		work_log_read(path);
		assert_int_equal(work_log_count("dispatch"), MANY);
		assert_int_equal(!work_log.total, !i);
	}
}

static void a_process_without_hsa_init_makes_no_file(void **state)
{
	pid_t pid;

	assert_int_equal(run_role("idle", "idle", &pid), 0);
	assert_int_equal(files_named("idle"), 0);
}

static void a_file_that_cannot_be_made_fails_hsa_init(void **state)
{
	pid_t pid;

	assert_int_equal(run_role("refused", "no/such/folder", &pid), 0);
}

static int open_device(void **state)
{
	char configuration[TEST_PATH_BYTES + 64];

	if (!mkdtemp(test_path(folder, "work")))
		return -1;
	snprintf(configuration, sizeof(configuration),
		 "gfx906,gpus=2,kernel_ns=1000,work_log=%s/log", folder);
	aql_open(configuration, &aql);
	return 0;
}

static int remove_folder(void **state)
{
	DIR *stream = opendir(folder);
	char path[TEST_PATH_BYTES * 2];

	free(work_log.text);
	for (struct dirent *entry; stream && (entry = readdir(stream));) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	closedir(stream);
	return rmdir(folder);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_packet_of_each_queue_has_its_line),
		cmocka_unit_test(a_line_is_there_before_the_slot_is_free),
		cmocka_unit_test(an_unknown_kernel_and_a_bad_packet_have_lines),
		cmocka_unit_test(each_copy_has_its_line),
		cmocka_unit_test(a_process_that_returns_or_exits_in_a_handler_leaves_totals),
		cmocka_unit_test(a_killed_process_loses_the_totals_alone),
		cmocka_unit_test(a_forked_child_leaves_the_log_alone),
		cmocka_unit_test(a_file_that_exists_is_never_written),
		cmocka_unit_test(a_process_without_hsa_init_makes_no_file),
		cmocka_unit_test(a_file_that_cannot_be_made_fails_hsa_init),
	};

	self = argv[0];
	if (argc > 1)
		return play_role(argv[1]);
	return cmocka_run_group_tests(tests, open_device, remove_folder);
}
