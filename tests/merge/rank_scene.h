/* The spool of one rank in memory: collectives on one communicator, each a kernel of RCCL. */
#ifndef DAGTAP_TESTS_RANK_SCENE_H
#define DAGTAP_TESTS_RANK_SCENE_H

#include "scene.h"

/* Numbers of functions in the scene's API_NAME records. */
enum rank_function { RANK_ALL_REDUCE = 2049, RANK_BROADCAST, RANK_GROUP_START, RANK_GROUP_END };

struct rank_scene {
	struct scene scene;
	uint64_t communicator;
	uint32_t rank, ranks;
};

/* Begins the spool of RANK, which is process 100 + RANK, on a machine of the name HOST whose wall
 * clock shows WALL_NS when its host clock shows 0. */
void rank_scene_init(struct rank_scene *scene, uint32_t rank, uint32_t ranks, const char *host,
		     int64_t wall_ns);

/* A time of the scene's host clock in ticks, as records of completion have it. */
uint64_t rank_scene_tick(int64_t host_ns);

/* Records an operation; returns its cid. */
uint64_t rank_scene_call(struct rank_scene *scene, enum rank_function function, uint64_t number);

/* Records a kernel that the call CID submitted, with its host times. */
void rank_scene_kernel(struct rank_scene *scene, uint64_t cid, int64_t begin_ns, int64_t end_ns);

/* Records an all-reduce with its kernel. */
void rank_scene_reduce(struct rank_scene *scene, uint64_t number, int64_t begin_ns, int64_t end_ns);

/* Seals the spool; its process ends at END_NS. */
void rank_scene_close(struct rank_scene *scene, int64_t end_ns);

/* Writes the packed spool as a recording into the file PATH. Ends the program if it cannot. */
void rank_scene_write(const struct rank_scene *scene, const char *path);

#endif
