/* A scene that is followed while it is made: the file is its image of the moment. */
#ifndef DAGTAP_TESTS_LIVE_PLAY_H
#define DAGTAP_TESTS_LIVE_PLAY_H

#include "follow.h"
#include "scene.h"

struct play {
	struct scene *scene;
	struct live *live;
	int fd;
	struct rows rows; /* of the last poll */
};

/* Gives out activities without waiting until their times are final. */
extern const struct live_options play_at_once;

/* Follows SCENE, which PLAY borrows, with OPTIONS (NULL: the usual ones), until play_end. */
void play_begin(struct play *play, struct scene *scene, const struct live_options *options);
void play_end(struct play *play);

/* Polls what the scene holds now; play->rows has what came. */
void play_poll(struct play *play);

/* What the follower has counted so far. */
struct live_counts play_counts(const struct play *play);

/* Puts an anchor of agent 1, whose clock the scene's dispatches have. */
void play_anchor(struct scene *scene, uint64_t host_ns);

#endif
