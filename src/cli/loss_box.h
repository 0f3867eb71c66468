/* Where processes of the recorded program say that they use a GPU and cannot be recorded: the
 * receiving end of record/loss_word.h. A thread of its own takes the words as they come, with all
 * signals blocked. */
#ifndef DAGTAP_CLI_LOSS_BOX_H
#define DAGTAP_CLI_LOSS_BOX_H

#include <stdint.h>
#include <stdio.h>

struct loss_box;

/* Opens it and puts its address into the environment of what is started from now on; FOLDER is the
 * spools'. Negative errno when there can be none: then such processes are not heard of. */
int loss_box_open(const char *folder, struct loss_box **ret_box);

/* Everything that was sent until now has been taken when this returns; nothing is taken any more.
 */
void loss_box_shut(struct loss_box *box); /* accepts NULL */

/* Writes one line for each process to OUT; returns how many. After loss_box_shut. */
uint32_t loss_box_tell(const struct loss_box *box, FILE *out);

void loss_box_close(struct loss_box *box); /* accepts NULL */

#endif
