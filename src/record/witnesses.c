/* The names of the witnesses, see witnesses.h. */
#include "record/witnesses.h"

const struct witness_name witness_names[WITNESS_COUNT] = {
#define X(id, source, key) {source, key},
	WITNESSES(X)
#undef X
};
