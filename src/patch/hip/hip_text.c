/* Reads one-dimensional copies from what hipGraphDebugDotPrint prints. HIP 5.3 and newer have no
 * other call that distinguishes them from three-dimensional copies: hipGraphMemcpyNodeGetParams
 * then returns memory that was never written, or what the node was made with. The text of a graph
 * is read once after its nodes were listed. It is printed into memory; nothing is written to a
 * disk. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "patch/hip/hip_driver.h"

enum { DOT_MEMCPY_PARAMS = 8 }; /* hipGraphDebugDotFlagsMemcpyNodeParams */

/* ---- the text ---- */

/* Reads the whole file; *RET_TEXT is allocated by malloc and ends with 0. -ENOTSUP, -ENOMEM. */
static int take_text(int file, char **ret_text)
{
	struct stat status;
	char *text;
	size_t at = 0;

	if (fstat(file, &status) < 0)
		return patch_fault(-ENOTSUP, "fstat", errno, strerror(errno));
	text = malloc((size_t)status.st_size + 1);
	if (!text)
		return patch_fault(-ENOMEM, "malloc", 0, "no memory for a graph's text");
	while (at < (size_t)status.st_size) {
		ssize_t got = pread(file, text + at, (size_t)status.st_size - at, (off_t)at);

		if (got <= 0)
			break;
		at += (size_t)got;
	}
	text[at] = 0;
	*ret_text = text;
	return 0;
}

static int print_graph(struct hip_driver *hip, void *graph, char **ret_text)
{
	char path[64];
	int file, err;

	if (!hip->hipGraphDebugDotPrint)
		return patch_fault(-ENOTSUP, "hipGraphDebugDotPrint", 0, "not in this libamdhip64");
	file = memfd_create("dagpatch", MFD_CLOEXEC);
	if (file < 0)
		return patch_fault(-ENOTSUP, "memfd_create", errno, strerror(errno));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	err = hip_check(hip, "hipGraphDebugDotPrint",
			hip->hipGraphDebugDotPrint(graph, path, DOT_MEMCPY_PARAMS));
	if (err == 0)
		err = take_text(file, ret_text);
	close(file);
	return err;
}

/* ---- the copies in the text ---- */

static int compare_copies(const void *left, const void *right)
{
	const struct hip_text_copy *a = left, *b = right;

	return (a->node > b->node) - (a->node < b->node);
}

/* AT is where the description of a copy begins. */
static bool parse_copy(const char *at, struct hip_text_copy *copy)
{
	static const char place[] = "| {{ID | node handle} | {";
	const char *ends = strstr(at, "{{srcPtr | dstPtr} |");
	const char *next = strstr(at + sizeof(place), place);

	if (!ends || (next && next < ends))
		return false;
	return sscanf(at, "| {{ID | node handle} | {%*u | %p}}", &copy->node) == 1 &&
	       sscanf(ends,
		      "{{srcPtr | dstPtr} | {pitch | ptr | xsize | ysize | pitch | ptr | xsize | "
		      "size} | {%zu | %p | %*u | %*u | %zu | %p | %*u | %*u}} | {{srcPos | {{x | "
		      "%zu} | {y | %zu} | {z | %zu}}} | {dstPos | {{x | %zu} | {y | %zu} | {z | "
		      "%zu}}} | {Extent | {{Width | %zu} | {Height | %zu} | {Depth | %zu}}}}",
		      &copy->src_pitch, &copy->src, &copy->dst_pitch, &copy->dst,
		      &copy->src_position.x, &copy->src_position.y, &copy->src_position.z,
		      &copy->dst_position.x, &copy->dst_position.y, &copy->dst_position.z,
		      &copy->extent.width, &copy->extent.height, &copy->extent.depth) == 13;
}

/* Used twice for each text: with COPIES NULL it only counts. */
static uint32_t parse_copies(const char *text, struct hip_text_copy *copies)
{
	struct hip_text_copy copy;
	uint32_t count = 0;

	for (const char *at = text; (at = strstr(at, "| {{ID | node handle} | {")); at++) {
		if (!parse_copy(at, &copy))
			continue;
		if (copies)
			copies[count] = copy;
		count++;
	}
	return count;
}

static int read_graph(struct hip_driver *hip, void *graph, struct hip_text *text)
{
	char *bytes = NULL;
	int err = print_graph(hip, graph, &bytes);

	if (err < 0)
		return err;
	text->count = parse_copies(bytes, NULL);
	text->copies = malloc((text->count + 1) * sizeof(*text->copies));
	if (text->copies) {
		parse_copies(bytes, text->copies);
		qsort(text->copies, text->count, sizeof(*text->copies), compare_copies);
		text->graph = graph;
	} else {
		err = patch_fault(-ENOMEM, "malloc", 0, "no memory for a graph's text");
	}
	free(bytes);
	return err;
}

/* ---- kept texts ---- */

static void drop(struct hip_text *text)
{
	free(text->copies);
	*text = (struct hip_text){0};
}

static struct hip_text *find_text(struct hip_driver *hip, const void *graph)
{
	for (uint32_t i = 0; i < HIP_TEXTS; i++)
		if (hip->texts[i].graph == graph)
			return &hip->texts[i];
	return NULL;
}

void hip_text_forget(struct hip_driver *hip, const void *graph)
{
	struct hip_text *text;

	pthread_mutex_lock(&hip->texts_lock);
	text = find_text(hip, graph);
	if (text)
		drop(text);
	pthread_mutex_unlock(&hip->texts_lock);
}

void hip_text_release(struct hip_driver *hip)
{
	for (uint32_t i = 0; i < HIP_TEXTS; i++)
		drop(&hip->texts[i]);
}

int hip_text_copy(struct hip_driver *hip, void *graph, void *node, struct hip_text_copy *ret_copy)
{
	struct hip_text_copy key = {.node = node};
	const struct hip_text_copy *found = NULL;
	struct hip_text *text;
	int err = 0;

	pthread_mutex_lock(&hip->texts_lock);
	text = find_text(hip, graph);
	if (!text) {
		text = &hip->texts[hip->next_text++ % HIP_TEXTS];
		drop(text);
		err = read_graph(hip, graph, text);
	}
	if (err == 0)
		found = bsearch(&key, text->copies, text->count, sizeof(key), compare_copies);
	if (found)
		*ret_copy = *found;
	pthread_mutex_unlock(&hip->texts_lock);
	if (err == 0 && !found)
		err = patch_fault(-ENOTSUP, "hipGraphDebugDotPrint", 0,
				  "a copy that its text does not describe");
	return err;
}
