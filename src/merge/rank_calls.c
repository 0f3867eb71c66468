/* Selecting calls of collectives (rank_calls.h). */
#include "merge/rank_calls.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/table.h"
#include "base/workers.h"
#include "merge/rank_collectives.h"

#define FUNCTIONS (RECORD_CUDA_FUNCTION_FIRST - RECORD_RCCL_FUNCTION_FIRST)

#define NO_WORD UINT32_MAX

/* More than a group can have. A thread with more has lost the end of a call or of a group. */
#define OPEN_BYTES_MOST (16u << 20)

/* Collectives that are kept because they, or others of their group, are the first of a member. The
 * rest of the room is for those whose numbers are multiples of the step. */
#define FIRSTS_MOST (RANK_COLLECTIVES_MOST / 2)

/* A function of RCCL or NCCL, and at which words of its calls the arguments are. */
struct function {
	enum rank_function_role role;
	uint32_t communicator_word, number_word, rank_word;
};

/* The calls of a thread that are kept until it is known what they belong to: COMPLETE bytes of the
 * group that is open, then calls inside a call that has not come yet. */
struct open_calls {
	struct rank_call_group group;
	size_t complete;
	uint32_t depth; /* groups that are open */
	bool has_role;	/* behind COMPLETE is a call of a function with a role */
	bool is_first;	/* an operation of the group is the first of a member */
};

struct selection {
	struct function functions[FUNCTIONS];
	bool has_collectives;  /* in functions */
	atomic_bool has_calls; /* of collectives */
	struct numbers tids;
	struct open_calls *threads; /* by number of tid */
	uint32_t thread_count;
	struct numbers members; /* communicator and rank; none is added once there are enough */
	uint64_t firsts;	/* operations of groups that are the first of a member */
	struct rank_calls calls;
	uint64_t step; /* groups whose step is less are left out */
};

/* ---- functions ---- */

static bool is_nccl_function(const struct record_header *header)
{
	return header->tag >= RECORD_RCCL_FUNCTION_FIRST &&
	       header->tag < RECORD_CUDA_FUNCTION_FIRST;
}

/* At which word of a call the argument NAME is; TEXT: those of the function, "comm:h rank:i". Of
 * these functions all take one word. */
static uint32_t word_of(const char *text, const char *name)
{
	size_t chars = strlen(name);

	for (uint32_t word = 0; *text; word++) {
		if (!strncmp(text, name, chars) && text[chars] == ':')
			return word;
		text += strcspn(text, " ");
		text += *text == ' ';
	}
	return NO_WORD;
}

static int take_name(struct selection *selection, const struct record_api_name *record)
{
	struct function *function =
		&selection->functions[record->header.tag - RECORD_RCCL_FUNCTION_FIRST];
	char *text = strndup(record->text, record->text_bytes), *arguments;

	if (!text)
		return -ENOMEM;
	arguments = text + strcspn(text, " ");
	if (*arguments)
		*arguments++ = '\0';
	*function = (struct function){
		.role = rank_function_role(text),
		.communicator_word = word_of(arguments, "commId"),
		.number_word = word_of(arguments, "seq"),
		.rank_word = word_of(arguments, "rank"),
	};
	selection->has_collectives |= function->role == RANK_FUNCTION_COLLECTIVE;
	free(text);
	return 0;
}

static int read_names(void *selection, unsigned worker, uint32_t part, struct origin_walk *walk)
{
	const struct record_header *header;
	int err = 0;

	while (err == 0 && (header = origin_walk_next(walk))) {
		const struct record_api_name *name = (const void *)header;

		if (header->type == RECORD_API_NAME && is_nccl_function(header) &&
		    name->domain == RECORD_DOMAIN_RCCL)
			err = take_name(selection, name);
	}
	return err;
}

/* The function of CALL if it has a role, else NULL. */
static const struct function *function_of(const struct selection *selection,
					  const struct record_header *call)
{
	const struct function *function;

	if (!is_nccl_function(call))
		return NULL;
	function = &selection->functions[call->tag - RECORD_RCCL_FUNCTION_FIRST];
	return function->role == RANK_FUNCTION_OTHER ? NULL : function;
}

/* ---- groups ---- */

/* Forgets what is in the group of THREAD, and keeps its memory. */
static void clear(struct open_calls *thread)
{
	struct rank_call_group *group = &thread->group;

	group->bytes = 0;
	group->operations = 0;
	group->step = 0;
	thread->complete = 0;
	thread->is_first = false;
}

/* Leaves out groups until there are few enough. */
static void thin(struct selection *selection)
{
	struct rank_calls *calls = &selection->calls;

	/* The first ones of members, whose step is UINT64_MAX, are few enough. */
	while (calls->operations > RANK_COLLECTIVES_MOST) {
		size_t kept = 0;

		selection->step =
			selection->step <= UINT64_MAX / 2 ? selection->step * 2 : UINT64_MAX;
		calls->operations = 0;
		for (size_t i = 0; i < calls->count; i++) {
			if (calls->groups[i].step < selection->step) {
				free(calls->groups[i].records);
				continue;
			}
			calls->operations += calls->groups[i].operations;
			calls->groups[kept++] = calls->groups[i];
		}
		calls->count = kept;
	}
}

/* Takes the group that THREAD has ended, or forgets it. */
static int end_group(struct selection *selection, struct open_calls *thread)
{
	struct rank_calls *calls = &selection->calls;
	struct rank_call_group *group = &thread->group;
	void *records;

	if (thread->is_first) {
		selection->firsts += group->operations;
		if (selection->firsts <= FIRSTS_MOST)
			group->step = UINT64_MAX;
	}
	if (group->operations == 0 || group->step < selection->step) {
		clear(thread);
		return 0;
	}
	if (table_reserve((void **)&calls->groups, &calls->room, calls->count + 1ull,
			  sizeof(*calls->groups)) < 0)
		return -ENOMEM;
	records = realloc(group->records, group->bytes);
	if (records)
		group->records = records;
	calls->groups[calls->count++] = *group;
	calls->operations += group->operations;
	*group = (struct rank_call_group){.tid = group->tid};
	clear(thread);
	thin(selection);
	return 0;
}

/* ---- calls ---- */

static int keep_call(struct rank_call_group *group, const struct record_api *call)
{
	size_t bytes = call->header.words * 8u;

	if (table_reserve((void **)&group->records, &group->room, group->bytes + bytes, 1) < 0)
		return -ENOMEM;
	memcpy(group->records + group->bytes, call, bytes);
	group->bytes += bytes;
	return 0;
}

static bool get_word(const struct record_api *call, uint32_t word, uint64_t *ret_value)
{
	size_t words = call->header.words - sizeof(*call) / 8;

	if (word >= words)
		return false;
	*ret_value = call->args[word];
	return true;
}

/* Counts the collective CALL in the group of THREAD, if it tells its communicator and number. */
static int count_operation(struct selection *selection, struct open_calls *thread,
			   const struct function *function, const struct record_api *call)
{
	struct rank_call_group *group = &thread->group;
	uint64_t communicator, number, rank;
	uint32_t members = selection->members.count;

	if (call->result != 0 || !get_word(call, function->communicator_word, &communicator) ||
	    !get_word(call, function->number_word, &number) ||
	    !get_word(call, function->rank_word, &rank) || !communicator || !number)
		return 0;
	if (selection->firsts < FIRSTS_MOST &&
	    numbers_get(&selection->members, communicator, rank) == NUMBERS_NONE)
		return -ENOMEM;
	thread->is_first |= selection->members.count > members;
	group->operations++;
	if ((number & -number) > group->step)
		group->step = number & -number;
	return 0;
}

static int take_role(struct selection *selection, struct open_calls *thread,
		     const struct function *function, const struct record_api *call)
{
	thread->has_role = true;
	if (function->role == RANK_FUNCTION_COLLECTIVE)
		return count_operation(selection, thread, function, call);
	if (function->role == RANK_FUNCTION_GROUP_START)
		thread->depth++;
	else if (thread->depth)
		thread->depth--;
	return 0;
}

static int take_call(struct selection *selection, struct open_calls *thread,
		     const struct record_api *call)
{
	const struct function *function = function_of(selection, &call->header);
	struct rank_call_group *group = &thread->group;

	if (!function && !call->parent && group->bytes == thread->complete)
		return 0;
	if (keep_call(group, call) < 0 ||
	    (function && take_role(selection, thread, function, call) < 0))
		return -ENOMEM;
	if (!call->parent) {
		if (!thread->has_role)
			group->bytes = thread->complete;
		thread->complete = group->bytes;
		thread->has_role = false;
		if (thread->depth == 0)
			return end_group(selection, thread);
	}
	if (group->bytes > OPEN_BYTES_MOST)
		clear(thread);
	return 0;
}

static struct open_calls *thread_of(struct selection *selection, uint32_t tid)
{
	struct open_calls *added;
	int64_t row = numbers_row(&selection->tids, tid, 0, (void **)&selection->threads,
				  &selection->thread_count, sizeof(*added), (void **)&added);

	if (row < 0)
		return NULL;
	if (added)
		added->group.tid = tid;
	return &selection->threads[row];
}

static int read_calls(void *state, unsigned worker, uint32_t part, struct origin_walk *walk)
{
	struct selection *selection = state;
	const struct record_header *header;
	int err = 0;

	while (err == 0 && (header = origin_walk_next(walk))) {
		struct open_calls *thread;

		if (header->type != RECORD_API)
			continue;
		thread = thread_of(selection, walk->tid);
		err = thread ? take_call(selection, thread, (const void *)header) : -ENOMEM;
	}
	return err;
}

static void release(struct selection *selection)
{
	for (uint32_t i = 0; i < selection->thread_count; i++)
		free(selection->threads[i].group.records);
	free(selection->threads);
	numbers_release(&selection->tids);
	numbers_release(&selection->members);
}

int rank_calls_select(struct origin *origin, struct rank_calls *ret_calls)
{
	struct selection selection = {.step = 1};
	/* One thread, because the calls of each thread must come in their order. */
	int err = origin_share(origin, ORIGIN_TYPE(RECORD_API_NAME), 1, read_names, &selection);

	if (err == 0 && selection.has_collectives)
		err = origin_share(origin, ORIGIN_TYPE(RECORD_API), 1, read_calls, &selection);
	release(&selection);
	if (err < 0)
		rank_calls_release(&selection.calls);
	else
		*ret_calls = selection.calls;
	return err;
}

void rank_calls_release(struct rank_calls *calls)
{
	for (size_t i = 0; i < calls->count; i++)
		free(calls->groups[i].records);
	free(calls->groups);
	*calls = (struct rank_calls){0};
}

/* ---- whether there are any ---- */

static int find_call(void *state, unsigned worker, uint32_t part, struct origin_walk *walk)
{
	struct selection *selection = state;
	const struct record_header *header;

	while (!atomic_load_explicit(&selection->has_calls, memory_order_relaxed) &&
	       (header = origin_walk_next(walk))) {
		const struct function *function =
			header->type == RECORD_API ? function_of(selection, header) : NULL;

		if (function && function->role == RANK_FUNCTION_COLLECTIVE)
			atomic_store_explicit(&selection->has_calls, true, memory_order_relaxed);
	}
	return 0;
}

int rank_calls_are_there(struct origin *origin)
{
	struct selection selection = {0};
	int err = origin_share(origin, ORIGIN_TYPE(RECORD_API_NAME), 1, read_names, &selection);

	if (err == 0 && selection.has_collectives)
		err = origin_share(origin, ORIGIN_TYPE(RECORD_API), WORKERS_ALL, find_call,
				   &selection);
	return err < 0 ? err : selection.has_calls;
}
