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
	/* The last call, which is written when it has returned: behind the calls inside it. */
	uint64_t cid; /* 0: none */
	enum rank_function function;
	uint64_t number, call_communicator;
};

/* Begins the spool of RANK, which is process 100 + RANK, on a machine of the name HOST whose wall
 * clock shows WALL_NS when its host clock shows 0. */
void rank_scene_init(struct rank_scene *scene, uint32_t rank, uint32_t ranks, const char *host,
		     int64_t wall_ns);

/* The same with room for CHUNKS_MOST chunks; the other one has room for some 1,000 operations. */
void rank_scene_init_long(struct rank_scene *scene, uint32_t rank, uint32_t ranks, const char *host,
			  int64_t wall_ns, uint32_t chunks_most);

/* A time of the scene's host clock in ticks, as records of completion have it. */
uint64_t rank_scene_tick(int64_t host_ns);

/* Records an operation; returns its cid. Its record follows when another call is recorded that is
 * not inside it. */
uint64_t rank_scene_call(struct rank_scene *scene, enum rank_function function, uint64_t number);

/* Records a kernel that the call CID submitted, with its host times; 0: no call. */
void rank_scene_kernel(struct rank_scene *scene, uint64_t cid, int64_t begin_ns, int64_t end_ns);

/* The same on CUDA, where the kernel belongs to a driver's call inside a runtime's call. */
void rank_scene_cuda_kernel(struct rank_scene *scene, uint64_t cid, int64_t begin_ns,
			    int64_t end_ns);

/* Records an all-reduce with its kernel. */
void rank_scene_reduce(struct rank_scene *scene, uint64_t number, int64_t begin_ns, int64_t end_ns);

/* Writes the record of the last call. */
void rank_scene_return(struct rank_scene *scene);

/* Seals the spool; its process ends at END_NS. */
void rank_scene_close(struct rank_scene *scene, int64_t end_ns);

/* Writes the packed spool as a recording into the file PATH. Ends the program if it cannot. */
void rank_scene_write(const struct rank_scene *scene, const char *path);

#endif
