/* Stands in for libamdhip64 in tests that need only the compiler's entry points or one call that
 * does nothing. */
void __hipRegisterFunction(void **module, const void *stub, char *device_function,
			   const char *device_name, unsigned int thread_limit, void *tid, void *bid,
			   void *block_dim, void *grid_dim, int *warp_size);
void __hipUnregisterFatBinary(void **module);
int model_registered(void);
int hipDeviceSynchronize(void);

static int registered;

void __hipRegisterFunction(void **module, const void *stub, char *device_function,
			   const char *device_name, unsigned int thread_limit, void *tid, void *bid,
			   void *block_dim, void *grid_dim, int *warp_size)
{
	registered++;
}

void __hipUnregisterFatBinary(void **module)
{
	registered = 0;
}

int model_registered(void)
{
	return registered;
}

int hipDeviceSynchronize(void)
{
	return 0;
}
