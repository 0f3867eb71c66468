/* hsa-scenes SCENE [N]: plays one scene on the first GPU, or on GPU N, counted from 0. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hsa_scene.h"

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
	if ((argc == 2 || argc == 3) &&
	    (play(plain_scenes, argv[1]) || play(mode_scenes, argv[1]) ||
	     play(end_scenes, argv[1]) || play(queue_scenes, argv[1])))
		return EXIT_SUCCESS;
	fprintf(stderr, "usage: hsa-scenes SCENE [GPU]\n");
	return 2;
}
