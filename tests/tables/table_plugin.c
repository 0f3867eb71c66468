/*
 * Plays a framework: a library that brings its own library for collectives, whose symbols nothing
 * else sees.
 */
int ncclGetVersion(int *version);
__attribute__((visibility("default"))) int plugin_version(void);

int plugin_version(void)
{
	int version = -1;

	return ncclGetVersion(&version) ? -1 : version;
}
