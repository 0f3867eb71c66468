/* Finding the installation's libraries, setting the variables that load them, and running the
 * program. */
#include "cli/launcher.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dagtap/softgpu.h>

#define INJECT_LIBRARY	"libdagtap-inject.so"
#define SOFTGPU_LIBRARY "softgpu/libhsa-runtime64.so.1"
#define SDK_NAME	"librocprofiler-sdk.so"
#define SDK_LIBRARY	"sdk/librocprofiler-sdk.so.1"

/* The folder ../lib/dagtap of the running executable. */
static int find_folder(char *ret_folder, size_t bytes)
{
	char exe[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (length < 0)
		return -errno;
	exe[length] = '\0';
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(exe, '/');

		if (!slash)
			return -ENOENT;
		*slash = '\0';
	}
	if (snprintf(ret_folder, bytes, "%s/lib/dagtap", exe) >= (int)bytes)
		return -ENAMETOOLONG;
	return 0;
}

int launch_find(const char *name, char **ret_path, struct dagtap_error *error)
{
	char folder[PATH_MAX];
	char *path;
	int result = find_folder(folder, sizeof(folder));

	if (result < 0)
		return dagtap_error_set(error, result, "cannot tell where dagtap is installed: %s",
					strerror(-result));
	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return dagtap_error_set(error, -ENOMEM, "out of memory");
	if (strpbrk(path, " :"))
		result = dagtap_error_set(error, -ENOTSUP,
					  "%s: a library whose path has a space or a colon cannot "
					  "be preloaded: install dagtap under another name",
					  path);
	else if (access(path, R_OK) < 0)
		result = dagtap_error_set(error, -errno, "%s: %s", path, strerror(errno));
	if (result < 0) {
		free(path);
		return result;
	}
	*ret_path = path;
	return 0;
}

int launch_append(const char *variable, const char *path, char separator)
{
	const char *before = getenv(variable);
	char *value;
	int err;

	if (!before || !*before)
		return setenv(variable, path, 1) < 0 ? -errno : 0;
	if (asprintf(&value, "%s%c%s", before, separator, path) < 0)
		return -ENOMEM;
	err = setenv(variable, value, 1) < 0 ? -errno : 0;
	free(value);
	return err;
}

/* Loads the software GPU, for its own functions: only it knows which configurations it accepts.
 * It stays loaded. */
static int open_softgpu(void **ret_library, struct dagtap_error *error)
{
	char *path = NULL;
	int err = launch_find(SOFTGPU_LIBRARY, &path, error);

	if (err < 0)
		return err;
	*ret_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	free(path);
	return *ret_library ? 0 : dagtap_error_set(error, -ELIBACC, "%s", dlerror());
}

static int check_softgpu_config(const char *config, struct dagtap_error *error)
{
	__typeof__(softgpu_config_check) *check;
	char message[256];
	void *library = NULL;
	int err = open_softgpu(&library, error);

	if (err < 0)
		return err;
	check = (__typeof__(check))dlsym(library, "softgpu_config_check");
	if (check && check(config, message, sizeof(message)) < 0)
		return dagtap_error_set(error, -EINVAL, "%s", message);
	return 0;
}

int launch_print_softgpu_keys(struct dagtap_error *error)
{
	__typeof__(softgpu_config_help) *help;
	char text[8192];
	void *library = NULL;
	int err = open_softgpu(&library, error);

	if (err < 0)
		return err;
	help = (__typeof__(help))dlsym(library, "softgpu_config_help");
	if (help && help(text, sizeof(text)) < sizeof(text))
		fputs(text, stdout);
	return 0;
}

int launch_use_softgpu(const char *config, struct dagtap_error *error)
{
	char *library = NULL;
	int result = config ? check_softgpu_config(config, error) : 0;

	if (result == 0)
		result = launch_find(SOFTGPU_LIBRARY, &library, error);
	if (result < 0)
		return result;
	/* Preloaded by path, so that an RPATH or a changed LD_LIBRARY_PATH has no effect. */
	result = launch_append("LD_PRELOAD", library, ':');
	free(library);
	if (result == 0 && config && setenv("DAGTAP_SOFTGPU", config, 1) < 0)
		result = -errno;
	if (result < 0)
		return dagtap_error_set(error, result, "environment: %s", strerror(-result));
	return 0;
}

/* Copies the first library of that name in VARIABLE, a list, that is not OURS. Returns whether
 * there is one. */
static bool find_in_list(const char *variable, const char *name, const char *ours, char *ret_path,
			 size_t bytes)
{
	const char *list = getenv(variable);

	while (list && *list) {
		size_t length = strcspn(list, ": ");
		const char *base;

		snprintf(ret_path, bytes, "%.*s", (int)length, list);
		base = strrchr(ret_path, '/');
		if (!strncmp(base ? base + 1 : ret_path, name, strlen(name)) &&
		    strcmp(ret_path, ours) != 0)
			return true;
		list += length;
		list += strspn(list, ": ");
	}
	return false;
}

/* Whether the user has named a rocprofiler-sdk to be loaded. Says so. */
static bool is_sdk_named(const char *ours)
{
	static const char *const variables[] = {"LD_PRELOAD", "ROCPROFILER_REGISTER_LIBRARY"};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		if (!find_in_list(variables[i], SDK_NAME, ours, path, sizeof(path)))
			continue;
		fprintf(stderr,
			"dagtap: %s names %s: it stays, and --sdk gives the program's profiler "
			"nothing\n",
			variables[i], path);
		return true;
	}
	return false;
}

int launch_use_sdk(struct dagtap_error *error)
{
	char *library = NULL;
	int result = launch_find(SDK_LIBRARY, &library, error);

	if (result < 0)
		return result;
	if (!is_sdk_named(library))
		result = launch_append("LD_PRELOAD", library, ':');
	free(library);
	return result < 0 ? dagtap_error_set(error, result, "environment: %s", strerror(-result))
			  : 0;
}

/* Sets a variable that can hold one library only. See launch_use_tracer. */
static int set_door(const char *variable, const char *library, enum launch_backend backend,
		    struct dagtap_error *error)
{
	const char *before = getenv(variable);

	if (!before || !*before || !strcmp(before, library))
		return setenv(variable, library, 1) < 0 ? -errno : 0;
	if (backend == LAUNCH_CUDA)
		return dagtap_error_set(error, -EBUSY,
					"%s is set already (%s): unset it to trace CUDA", variable,
					before);
	fprintf(stderr, "dagtap: %s is set already (%s): it stays, and is not traced\n", variable,
		before);
	return 0;
}

static int set_cuda_doors(const char *library, enum launch_backend backend,
			  struct dagtap_error *error)
{
	int err = set_door("CUDA_INJECTION64_PATH", library, backend, error);

	return err < 0 ? err : set_door("NVTX_INJECTION64_PATH", library, backend, error);
}

int launch_use_tracer(const char *spool_folder, enum launch_backend backend,
		      struct dagtap_error *error)
{
	char *library = NULL;
	int result = launch_find(INJECT_LIBRARY, &library, error);

	if (result < 0)
		return result;
	result = launch_append("LD_PRELOAD", library, ':');
	if (result == 0 && backend != LAUNCH_CUDA)
		result = launch_append("HSA_TOOLS_LIB", library, ' ');
	/* Without this variable the runtime ignores HSA_TOOLS_LIB once it has found a tool that
	 * registers for its tables, ours or another one. */
	if (result == 0 && backend != LAUNCH_CUDA &&
	    setenv("HSA_TOOLS_ROCPROFILER_V1_TOOLS", "1", 1) < 0)
		result = -errno;
	if (result == 0 && backend != LAUNCH_HSA)
		result = set_cuda_doors(library, backend, error);
	free(library);
	if (result == -EBUSY)
		return result;
	if (result == 0 && setenv("DAGTAP_SPOOL", spool_folder, 1) < 0)
		result = -errno;
	if (result < 0)
		return dagtap_error_set(error, result, "environment: %s", strerror(-result));
	return 0;
}

static int fail_program(struct dagtap_error *error, int code, const char *name)
{
	return dagtap_error_set(error, code, "%s: cannot be run: %s", name, strerror(-code));
}

/* Returns 0, or the negative errno with which execve refuses the file. */
static int check_program(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0 || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return -errno;
	return S_ISREG(status.st_mode) ? 0 : -EACCES;
}

/* Searches PATH. An empty folder in it is the working one; without PATH execvp searches these.
 * Returns 0 or a negative errno; a file that may not be run is told before one that is missing. */
static int search_program(const char *name, char **ret_path)
{
	const char *list = getenv("PATH");
	int err, first = -ENOENT;
	size_t length;
	char *path;

	for (list = list ? list : "/bin:/usr/bin";; list += length + 1) {
		length = strcspn(list, ":");
		if (asprintf(&path, "%.*s%s%s", (int)length, list, length ? "/" : "", name) < 0)
			return -ENOMEM;
		err = check_program(path);
		if (err == 0) {
			*ret_path = path;
			return 0;
		}
		free(path);
		if (first == -ENOENT && err != -ENOTDIR)
			first = err;
		if (!list[length])
			return first;
	}
}

int launch_find_program(const char *name, char **ret_path, struct dagtap_error *error)
{
	bool is_path = !*name || strchr(name, '/');
	int err = is_path ? check_program(name) : search_program(name, ret_path);

	if (err == 0 && is_path && !(*ret_path = strdup(name)))
		err = -ENOMEM;
	return err < 0 ? fail_program(error, err, name) : 0;
}

static volatile sig_atomic_t child_pid;

static const int forwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

#define FORWARDED_COUNT (sizeof(forwarded) / sizeof(forwarded[0]))

/* The signal state of dagtap's caller, with which the child starts. */
struct signals {
	sigset_t mask;
	struct sigaction forwarded[FORWARDED_COUNT];
	struct sigaction child;
};

/* Forwards a signal to the child, except signals of the terminal: the kernel sends these to the
 * whole process group, which includes the child. */
static void forward(int signal_number, siginfo_t *info, void *context)
{
	int saved = errno;

	if (info->si_code != SI_KERNEL && child_pid > 0)
		kill((pid_t)child_pid, signal_number);
	errno = saved;
}

static void catch_signals(struct signals *ret_before)
{
	struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
	/* dagtap's parent may have set SIGCHLD to be ignored; then waitpid could not get a
	 * status. */
	struct sigaction wait = {.sa_handler = SIG_DFL};
	sigset_t block;

	sigemptyset(&block);
	for (size_t i = 0; i < FORWARDED_COUNT; i++)
		sigaddset(&block, forwarded[i]);
	/* Blocked until child_pid is set. The child starts with the caller's mask. */
	sigprocmask(SIG_BLOCK, &block, &ret_before->mask);
	for (size_t i = 0; i < FORWARDED_COUNT; i++)
		sigaction(forwarded[i], &action, &ret_before->forwarded[i]);
	sigaction(SIGCHLD, &wait, &ret_before->child);
}

static void restore_signals(const struct signals *before)
{
	for (size_t i = 0; i < FORWARDED_COUNT; i++)
		sigaction(forwarded[i], &before->forwarded[i], NULL);
	sigaction(SIGCHLD, &before->child, NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

static struct sigaction file_limit_before = {.sa_handler = SIG_DFL};

void launch_ignore_file_limit(void)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGXFSZ, &ignore, &file_limit_before);
}

void launch_restore_file_limit(void)
{
	sigaction(SIGXFSZ, &file_limit_before, NULL);
}

static _Noreturn void run_child(char *const argv[], int report_fd)
{
	int code;

	execvp(argv[0], argv);
	code = errno;
	if (write(report_fd, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

/* Waits for PID. Also reaps orphaned processes of the program, whose reaper dagtap is. */
static int wait_child(pid_t pid, int *ret_exit_status)
{
	pid_t ended;
	int status;

	while ((ended = waitpid(-1, &status, 0)) != pid) {
		if (ended < 0 && errno != EINTR)
			return -errno;
	}
	*ret_exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return 0;
}

/* Returns 0 if exec succeeded, which closes the pipe; else the negative errno that the child
 * wrote. */
static int read_exec_error(int fd)
{
	int code = 0;
	ssize_t got;

	do {
		got = read(fd, &code, sizeof(code));
	} while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(code) ? -code : 0;
}

bool launch_has_survivors(void)
{
	pid_t ended;

	do {
		ended = waitpid(-1, NULL, WNOHANG);
	} while (ended > 0);
	return ended == 0;
}

int launch_run(char *const argv[], int *ret_exit_status, struct dagtap_error *error)
{
	struct signals before;
	int report[2];
	int exec_error, result;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		return dagtap_error_set(error, -errno, "pipe: %s", strerror(errno));
	/* Makes dagtap the parent of processes whose parent ends, so that launch_has_survivors
	 * can find them. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	catch_signals(&before);
	pid = fork();
	if (pid == 0) {
		restore_signals(&before);
		launch_restore_file_limit();
		run_child(argv, report[1]);
	}
	close(report[1]);
	if (pid < 0) {
		result = dagtap_error_set(error, -errno, "fork: %s", strerror(errno));
		restore_signals(&before);
		close(report[0]);
		return result;
	}
	child_pid = pid;
	sigprocmask(SIG_SETMASK, &before.mask, NULL);
	exec_error = read_exec_error(report[0]);
	close(report[0]);
	result = wait_child(pid, ret_exit_status);
	child_pid = 0;
	restore_signals(&before);
	if (result < 0)
		return dagtap_error_set(error, result, "wait: %s", strerror(-result));
	if (exec_error < 0)
		return fail_program(error, exec_error, argv[0]);
	return 0;
}
