/* What a framework is: a library that brings the one for collectives with it, out of everybody else's sight. */
int ncclGetVersion(int *version);
__attribute__((visibility("default"))) int plugin_version(void);

int plugin_version(void)
{
	int version = -1;

	return ncclGetVersion(&version) ? -1 : version;
}
