/* Which agents of several processes are the same GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "format/timeline/gpus.h"
#include "xspace_scene.h"

#define CARD "GPU-0123456789abcdef"

static struct gpus gpus;

/* Adds an agent of PROCESS; 0 for PLACE or DRIVER means unknown. */
static void gpu(struct scene *scene, uint32_t process, const char *uuid, uint32_t place,
		uint32_t driver)
{
	struct trace_agent *agent = &scene->trace.agents[scene_gpu(scene, process, uuid)];

	agent->has_location = place != 0;
	agent->pci_location = place;
	agent->driver_id = driver;
}

static struct scene *two_processes(void)
{
	struct scene *scene = scene_create(0, 0);

	scene_process(scene, 4712);
	return scene;
}

/* Expects the GPU numbers, as digits, of all agents but the first, which is a CPU. */
static void expect(struct scene *scene, const char *numbers)
{
	char found[16] = "";

	assert_int_equal(gpus_init(&gpus, &scene->trace), 0);
	for (uint32_t i = 1; i < scene->trace.agents_count; i++)
		found[i - 1] = (char)('0' + gpus.of_agent[i]);
	assert_string_equal(found, numbers);
	gpus_release(&gpus);
}

static void a_uuid_is_enough_where_nothing_else_is_known(void **state)
{
	struct scene *scene = two_processes();

	(void)state;
	gpu(scene, 0, CARD, 0, 0);
	gpu(scene, 0, "GPU-1", 0, 0);
	gpu(scene, 1, "GPU-1", 0x100, 7);
	gpu(scene, 1, CARD, 0x200, 8);
	expect(scene, "0110");
}

/* The second process sees two partitions of the same card and one more, in another order. */
static void partitions_of_a_card_are_apart(void **state)
{
	struct scene *scene = two_processes();

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		gpu(scene, 0, CARD, i << 28 | 0x100, 0);
	gpu(scene, 1, CARD, 2u << 28 | 0x100, 0);
	gpu(scene, 1, CARD, 3u << 28 | 0x100, 0);
	gpu(scene, 1, CARD, 0x100, 0);
	expect(scene, "012230");
}

static void the_bus_tells_cards_apart(void **state)
{
	struct scene *scene = two_processes();

	(void)state;
	gpu(scene, 0, CARD, 0x100, 0);
	gpu(scene, 1, CARD, 0x200, 0);
	gpu(scene, 1, CARD, 0x100, 0);
	scene->trace.agents[3].pci_domain = 1;
	expect(scene, "012");
}

static void the_driver_tells_partitions_apart(void **state)
{
	struct scene *scene = two_processes();

	(void)state;
	gpu(scene, 0, CARD, 0x100, 11);
	gpu(scene, 0, CARD, 0x100, 12);
	gpu(scene, 1, CARD, 0x100, 12);
	gpu(scene, 1, CARD, 0x100, 13);
	expect(scene, "0112");
}

/* If the driver does not identify partitions, they have the same order in both processes. */
static void else_the_order_tells(void **state)
{
	struct scene *scene = two_processes();

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		gpu(scene, i / 3, CARD, 0x100, 0);
	expect(scene, "012012");
}

static void no_uuid_is_nobodys(void **state)
{
	struct scene *scene = two_processes();

	(void)state;
	gpu(scene, 0, "GPU-XX", 0x100, 0);
	gpu(scene, 0, "", 0x200, 0);
	gpu(scene, 1, "GPU-XX", 0x100, 0);
	gpu(scene, 1, "", 0x200, 0);
	expect(scene, "0123");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(a_uuid_is_enough_where_nothing_else_is_known),
		KEPT_CASE(partitions_of_a_card_are_apart),
		KEPT_CASE(the_bus_tells_cards_apart),
		KEPT_CASE(the_driver_tells_partitions_apart),
		KEPT_CASE(else_the_order_tells),
		KEPT_CASE(no_uuid_is_nobodys),
	};

	return cmocka_run_group_tests_name("gpus", tests, NULL, NULL);
}
