/* The XSpace writer's buffer, and lengths that are patched in afterwards. */
#include "format/xspace/xspace_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/varint.h"

#define WIRE_VARINT 0
#define WIRE_BYTES  2

#define LENGTH_BYTES 5

static int last_error(void)
{
	return errno ? -errno : -EIO;
}

/* True if FILE can seek. In a file that is opened for appending every write goes to the end, so
 * lengths could not be patched. */
static bool can_go_back(FILE *file, off_t *ret_start)
{
	int fd = fileno(file);
	off_t start = ftello(file);

	if (start < 0 || fseeko(file, start, SEEK_SET) != 0)
		return false;
	if (fd >= 0 && (fcntl(fd, F_GETFL) & O_APPEND))
		return false;
	*ret_start = start;
	return true;
}

static void release_buffers(struct xspace_out *out)
{
	free(out->bytes);
	free(out->spare);
	*out = (struct xspace_out){0};
}

int xspace_out_init(struct xspace_out *out, FILE *target, uint64_t bytes_max)
{
	int err = 0;

	*out = (struct xspace_out){
		.target = target,
		.file = target,
		.bytes_max = bytes_max,
		.bytes = malloc(XSPACE_OUT_BLOCK + XSPACE_OUT_PIECE),
		.spare = malloc(XSPACE_OUT_BLOCK + XSPACE_OUT_PIECE),
	};
	if (!out->bytes || !out->spare)
		err = -ENOMEM;
	if (!err && target && !can_go_back(target, &out->start)) {
		errno = 0;
		out->file = tmpfile();
		if (!out->file)
			err = last_error();
	}
	if (err)
		release_buffers(out);
	else
		write_behind_init(&out->behind, out->file);
	return err;
}

void xspace_out_release(struct xspace_out *out)
{
	if (!out->bytes)
		return;
	write_behind_release(&out->behind);
	if (out->file && out->file != out->target)
		fclose(out->file);
	release_buffers(out);
}

/* Keeps ERROR unless there was one before. */
static void fail(struct xspace_out *out, int error)
{
	if (!out->error)
		out->error = error;
}

/* only whole blocks, because stdio passes those on without a copy */
void xspace_out_flush(struct xspace_out *out)
{
	size_t whole = out->used / XSPACE_OUT_BLOCK * XSPACE_OUT_BLOCK;
	uint8_t *filled = out->bytes;

	if (whole == 0)
		return;
	if (!out->error && out->file)
		fail(out, write_behind_put(&out->behind, filled, whole));
	out->flushed += whole;
	if (out->flushed > out->bytes_max)
		fail(out, -EFBIG);
	out->used -= whole;
	out->bytes = out->spare;
	out->spare = filled;
	memcpy(out->bytes, filled + whole, out->used);
}

/* Writes COUNT bytes at the FILE's present place. */
static void write_now(struct xspace_out *out, const void *bytes, size_t count)
{
	if (out->error || !out->file)
		return;
	fail(out, write_behind_now(&out->behind, bytes, count));
}

static int copy_to_target(struct xspace_out *out)
{
	size_t count;

	rewind(out->file);
	errno = 0;
	while ((count = fread(out->bytes, 1, XSPACE_OUT_BLOCK, out->file)) > 0) {
		if (fwrite(out->bytes, 1, count, out->target) != count)
			return last_error();
	}
	return ferror(out->file) ? last_error() : 0;
}

int xspace_out_finish(struct xspace_out *out)
{
	if (!out->error && out->flushed + out->used > out->bytes_max)
		out->error = -EFBIG;
	write_now(out, out->bytes, out->used);
	out->flushed += out->used;
	out->used = 0;
	if (!out->error && out->file != out->target)
		out->error = copy_to_target(out);
	return out->error;
}

void xspace_out_put(struct xspace_out *out, const void *bytes, size_t count)
{
	while (count > 0) {
		size_t piece = count < XSPACE_OUT_PIECE ? count : XSPACE_OUT_PIECE;

		memcpy(xspace_out_room(out), bytes, piece);
		out->used += piece;
		bytes = (const uint8_t *)bytes + piece;
		count -= piece;
	}
}

static void put_key(struct xspace_out *out, uint32_t field, unsigned type, uint64_t value)
{
	uint8_t *room = xspace_out_room(out);
	uint8_t *at = varint_put(room, (uint64_t)field << 3 | type);

	at = varint_put(at, value);
	out->used += (size_t)(at - room);
}

void xspace_out_put_u64(struct xspace_out *out, uint32_t field, uint64_t value)
{
	put_key(out, field, WIRE_VARINT, value);
}

void xspace_out_put_fields(struct xspace_out *out, const struct proto *fields)
{
	if (fields->error && !out->error)
		out->error = fields->error;
	if (!out->error)
		xspace_out_put(out, fields->bytes, fields->used);
}

void xspace_out_put_message(struct xspace_out *out, uint32_t field, const struct proto *message)
{
	put_key(out, field, WIRE_BYTES, message->used);
	xspace_out_put_fields(out, message);
}

uint64_t xspace_out_begin(struct xspace_out *out, uint32_t field)
{
	uint64_t mark;

	put_key(out, field, WIRE_BYTES, 0);
	mark = out->flushed + out->used - 1;
	memset(out->bytes + out->used, 0, LENGTH_BYTES - 1);
	out->used += LENGTH_BYTES - 1;
	return mark;
}

/* Patches the first WRITTEN bytes of a length into the file; a flush has written them already and
 * may have split the length. */
static void patch_file(struct xspace_out *out, uint64_t mark, const uint8_t *length, size_t written)
{
	if (out->error || !out->file)
		return;
	fail(out, write_behind_wait(&out->behind));
	errno = 0;
	if (!out->error && fseeko(out->file, out->start + (off_t)mark, SEEK_SET) != 0)
		out->error = last_error();
	write_now(out, length, written);
	if (!out->error && fseeko(out->file, out->start + (off_t)out->flushed, SEEK_SET) != 0)
		out->error = last_error();
}

void xspace_out_end(struct xspace_out *out, uint64_t mark)
{
	uint64_t bytes = out->flushed + out->used - mark - LENGTH_BYTES;
	uint8_t length[LENGTH_BYTES];
	size_t written = 0;

	for (unsigned i = 0; i < LENGTH_BYTES; i++)
		length[i] = (uint8_t)(bytes >> (7 * i) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
	if (mark < out->flushed) {
		written = out->flushed - mark < LENGTH_BYTES ? (size_t)(out->flushed - mark)
							     : LENGTH_BYTES;
		patch_file(out, mark, length, written);
	}
	if (written < LENGTH_BYTES)
		memcpy(out->bytes + (mark + written - out->flushed), length + written,
		       LENGTH_BYTES - written);
}

/* The bytes so far must be in the file, and none in a buffer of the FILE, before others write to
 * the file itself. */
void xspace_turns_begin(struct xspace_turns *turns, struct xspace_out *out)
{
	*turns = (struct xspace_turns){.out = out, .fd = -1};
	pthread_mutex_init(&turns->lock, NULL);
	pthread_cond_init(&turns->changed, NULL);
	write_now(out, out->bytes, out->used);
	out->flushed += out->used;
	out->used = 0;
	if (out->error || !out->file)
		return;
	errno = 0;
	if (fflush(out->file) != 0)
		fail(out, last_error());
	turns->fd = fileno(out->file);
}

static int write_at(int fd, const uint8_t *bytes, size_t count, off_t offset)
{
	while (count > 0) {
		ssize_t written = pwrite(fd, bytes, count, offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -EIO;
		bytes += written;
		count -= (size_t)written;
		offset += written;
	}
	return 0;
}

/* Takes the place of COUNT bytes, and passes the turn on. A file without a descriptor gets its
 * bytes in order. Returns whether the bytes are to be written at RET_OFFSET. */
static bool take_turn(struct xspace_turns *turns, const void *bytes, size_t count, int error,
		      off_t *ret_offset)
{
	struct xspace_out *out = turns->out;

	if (error)
		fail(out, error);
	*ret_offset = out->start + (off_t)out->flushed;
	out->flushed += count;
	if (out->flushed > out->bytes_max)
		fail(out, -EFBIG);
	if (turns->fd < 0)
		write_now(out, bytes, count);
	turns->next++;
	pthread_cond_broadcast(&turns->changed);
	return turns->fd >= 0 && !out->error;
}

void xspace_turns_put(struct xspace_turns *turns, uint32_t number, const void *bytes, size_t count,
		      int error)
{
	bool is_written;
	off_t offset;

	pthread_mutex_lock(&turns->lock);
	while (turns->next != number)
		pthread_cond_wait(&turns->changed, &turns->lock);
	is_written = take_turn(turns, bytes, count, error, &offset);
	pthread_mutex_unlock(&turns->lock);
	error = is_written ? write_at(turns->fd, bytes, count, offset) : 0;
	if (error < 0) {
		pthread_mutex_lock(&turns->lock);
		fail(turns->out, error);
		pthread_mutex_unlock(&turns->lock);
	}
}

void xspace_turns_end(struct xspace_turns *turns)
{
	struct xspace_out *out = turns->out;

	pthread_cond_destroy(&turns->changed);
	pthread_mutex_destroy(&turns->lock);
	errno = 0;
	if (!out->error && turns->fd >= 0 &&
	    fseeko(out->file, out->start + (off_t)out->flushed, SEEK_SET) != 0)
		fail(out, last_error());
}
