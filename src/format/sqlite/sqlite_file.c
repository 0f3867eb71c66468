/* Makes a database in the output file or beside it (see sqlite_file.h). */
#include "format/sqlite/sqlite_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_CHARS 4096
#define COPY_BYTES (1 << 18)

int sqlite_file_fail(struct sqlite_file *file)
{
	int err = sqlite3_system_errno(file->sqlite);

	switch (sqlite3_errcode(file->sqlite)) {
	case SQLITE_NOMEM:
		err = ENOMEM;
		break;
	case SQLITE_FULL:
		err = ENOSPC;
		break;
	default:
		break;
	}
	return dagtap_error_set(file->error, err ? -err : -EIO, "%s: %s", file->name,
				sqlite3_errmsg(file->sqlite));
}

int sqlite_file_run(struct sqlite_file *file, const char *statements)
{
	if (sqlite3_exec(file->sqlite, statements, NULL, NULL, NULL) != SQLITE_OK)
		return sqlite_file_fail(file);
	return 0;
}

int sqlite_file_bind_text(struct sqlite_file *file, sqlite3_stmt *statement, int place,
			  const char *text)
{
	text = table_utf8(text, &file->clean);
	if (!text)
		return SQLITE_NOMEM;
	if (!*text)
		return sqlite3_bind_null(statement, place);
	return sqlite3_bind_text(statement, place, text, -1, SQLITE_TRANSIENT);
}

int sqlite_file_insert(struct sqlite_file *file, sqlite3_stmt *statement, int result)
{
	if (result == SQLITE_NOMEM)
		return dagtap_error_set(file->error, -ENOMEM, "%s: out of memory", file->name);
	if (result != SQLITE_OK)
		return sqlite_file_fail(file);
	sqlite3_step(statement);
	return sqlite3_reset(statement) == SQLITE_OK ? 0 : sqlite_file_fail(file);
}

/* What FILL makes, and the place for it. */
struct making {
	const char *path; /* an empty file */
	bool is_temporary;
	int (*fill)(struct sqlite_file *file, void *context);
	void *context;
};

/* The file is nobody else's and is thrown away on failure: no journal. */
static int make_tables(struct sqlite_file *file, const struct making *making)
{
	int err = sqlite_file_run(file, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
					"PRAGMA locking_mode = EXCLUSIVE; BEGIN");

	if (err == 0)
		err = making->fill(file, making->context);
	return err == 0 ? sqlite_file_run(file, "COMMIT") : err;
}

/* The file needs no locks, which not every file system has. */
static int make_database(struct sqlite_file *file, const struct making *making)
{
	int result =
		sqlite3_open_v2(making->path, &file->sqlite, SQLITE_OPEN_READWRITE, "unix-none");
	int err;

	/* SQLite and our caller have it open. */
	if (making->is_temporary)
		unlink(making->path);
	err = result == SQLITE_OK ? make_tables(file, making) : sqlite_file_fail(file);
	free(file->clean.text);
	/* The file is complete only if this succeeds. */
	if (sqlite3_close(file->sqlite) != SQLITE_OK && err == 0)
		err = dagtap_error_set(file->error, -EIO, "%s: cannot close the database",
				       file->name);
	return err;
}

static int copy_file(int fd, FILE *out, const char *name, struct dagtap_error *error)
{
	char *buffer = malloc(COPY_BYTES);
	ssize_t bytes;

	if (!buffer)
		return dagtap_error_set(error, -ENOMEM, "%s: out of memory", name);
	errno = 0;
	while ((bytes = read(fd, buffer, COPY_BYTES)) > 0 && !ferror(out))
		fwrite(buffer, 1, (size_t)bytes, out);
	free(buffer);
	if (bytes < 0 || ferror(out))
		return dagtap_error_set(error, errno ? -errno : -EIO, "%s: %s", name,
					strerror(errno ? errno : EIO));
	return 0;
}

/* Makes the database in a temporary file and copies it. */
static int write_copy(FILE *out, struct sqlite_file *file, struct making *making)
{
	const char *folder = getenv("TMPDIR");
	char path[PATH_CHARS];
	int err, fd;

	snprintf(path, sizeof(path), "%s/dagtap-sqlite-XXXXXX",
		 folder && *folder ? folder : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return dagtap_error_set(file->error, -errno, "%s: %s: %s", file->name, path,
					strerror(errno));
	making->path = path;
	making->is_temporary = true;
	err = make_database(file, making);
	making->path = NULL;
	if (err == 0)
		err = copy_file(fd, out, file->name, file->error);
	close(fd);
	return err;
}

/* Whether SQLite can make the database in OUT itself: an empty file of our own, which is to be
 * opened by its path in /proc. Standard output may be a file that others have open. */
static bool is_empty_file(FILE *out, char path[PATH_CHARS])
{
	struct stat status, same;
	int fd = out == stdout ? -1 : fileno(out);

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size != 0 ||
	    ftello(out) != 0)
		return false;
	snprintf(path, PATH_CHARS, "/proc/self/fd/%d", fd);
	return stat(path, &same) == 0 && same.st_dev == status.st_dev &&
	       same.st_ino == status.st_ino && access(path, R_OK | W_OK) == 0;
}

int sqlite_file_write(FILE *out, const char *name,
		      int (*fill)(struct sqlite_file *file, void *context), void *context,
		      struct dagtap_error *error)
{
	struct sqlite_file file = {.name = name, .error = error};
	struct making making = {.fill = fill, .context = context};
	char path[PATH_CHARS];

	if (!is_empty_file(out, path))
		return write_copy(out, &file, &making);
	making.path = path;
	return make_database(&file, &making);
}
