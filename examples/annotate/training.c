/*
 * training: shows how a program annotates itself. A training loop names its steps, its layers and
 * their attributes, hands work to another thread with its scopes, and records only the steps of
 * interest.
 *
 * cc training.c $(pkg-config --cflags --libs dagtap) -lpthread -o training
 * dagtap record -o run.dagtap -- ./training
 * dagtap export --format csv --table scopes -o scopes.csv run.dagtap
 *
 * The source is valid C99 and C++11. It launches no GPU work; comments mark where the launches
 * would be.
 */
#include <dagtap/annotate.h>
#include <dagtap/session.h>
#include <pthread.h>
#include <stdio.h>

#define STEPS	   10
#define LAYERS	   3
#define DEPTH_MOST 16

static void run_layer(int layer)
{
	struct dagtap_attribute attributes[2];

	attributes[0] = dagtap_attribute_int64("layer", layer);
	attributes[1] = dagtap_attribute_text("kind", layer == 0 ? "embedding" : "attention");
	dagtap_scope_push_with("layer", attributes, 2);
	/* GPU launches of the layer go here */
	dagtap_scope_pop();
}

/* Work for another thread, with the path of scopes that it belongs to. */
struct task {
	uint64_t path[DEPTH_MOST];
	size_t depth;
};

static void *run_task(void *argument)
{
	const struct task *task = (const struct task *)argument;

	dagtap_scope_attach(task->path, task->depth);
	dagtap_scope_push("all-reduce");
	/* GPU launches here belong to the step as well */
	dagtap_scope_pop();
	dagtap_scope_detach();
	return NULL;
}

static int run_elsewhere(void)
{
	struct task task;
	pthread_t thread;

	task.depth = dagtap_scope_path(task.path, DEPTH_MOST);
	if (task.depth > DEPTH_MOST)
		task.depth = DEPTH_MOST;
	if (pthread_create(&thread, NULL, run_task, &task) != 0)
		return 1;
	return pthread_join(thread, NULL);
}

static int run_step(int step)
{
	int failed;

	dagtap_step_begin("train", step);
	for (int layer = 0; layer < LAYERS; layer++)
		run_layer(layer);
	failed = run_elsewhere();
	dagtap_step_end();
	return failed;
}

int main(void)
{
	int failed = 0;

	for (int step = 0; step < STEPS && !failed; step++) {
		/* Makes two recordings: a step after the warm-up, and the last two steps. */
		if (step == 3 || step == STEPS - 2)
			dagtap_session_start();
		failed = run_step(step);
		if (step == 3)
			dagtap_session_stop();
	}
	printf("steps: %d\n", STEPS);
	return failed;
}
