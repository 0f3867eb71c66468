/* hsa-scenes SCENE [N]: plays one scene on the first GPU, or on GPU N, counted from 0. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hsa_scene.h"

static const struct scene *const lists[] = {plain_scenes, copy_scenes, mode_scenes, end_scenes,
					    queue_scenes};

static bool play(const struct scene *scenes, const char *name)
{
	while (scenes->name && strcmp(scenes->name, name) != 0)
		scenes++;
	if (!scenes->name)
		return false;
	open_device();
	scenes->play();
	close_device();
	return true;
}

int main(int argc, char **argv)
{
	if (argc == 3)
		device_choose((uint32_t)strtoul(argv[2], NULL, 10));
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists) && (argc == 2 || argc == 3); i++)
		if (play(lists[i], argv[1]))
			return EXIT_SUCCESS;
	fprintf(stderr, "usage: hsa-scenes SCENE [GPU]\n");
	return 2;
}
