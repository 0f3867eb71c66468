/* Reads kernels' parameters from the code objects that HSA's loader lists. The loader names the
 * memory that each code object was loaded from. This memory is the program's and may be unmapped
 * by now, because HIP does not copy what hipModuleLoadData is given. So it is read with
 * process_vm_readv, which returns an error for a missing page, and is checked as input from
 * outside. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "patch/hip/amd_code.h"
#include "patch/hip/hip_driver.h"

/* -ENOENT: some of the bytes are not mapped. */
static int read_memory(const void *from, size_t bytes, void *to)
{
	struct iovec local = {to, bytes}, remote = {(void *)from, bytes};
	ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	if (got < 0 && (errno == EPERM || errno == ENOSYS)) {
		/* process_vm_readv is not allowed here: the memory is trusted */
		memcpy(to, from, bytes);
		return 0;
	}
	return got == (ssize_t)bytes ? 0 : -ENOENT;
}

/* Copies an image up to the end of its notes; *RET_COPY is allocated by malloc. */
static int copy_notes(const uint8_t *image, size_t size, void **ret_copy, size_t *ret_bytes)
{
	Elf64_Phdr segments[16];
	Elf64_Ehdr header;
	size_t end = sizeof(header);
	int err = size < sizeof(header) ? -ENOENT : read_memory(image, sizeof(header), &header);

	if (err < 0)
		return err;
	if (header.e_phentsize != sizeof(*segments) || header.e_phoff > size ||
	    header.e_phnum > sizeof(segments) / sizeof(*segments) ||
	    header.e_phnum * sizeof(*segments) > size - header.e_phoff)
		return -ENOENT;
	err = read_memory(image + header.e_phoff, header.e_phnum * sizeof(*segments), segments);
	for (uint32_t i = 0; err == 0 && i < header.e_phnum; i++) {
		uint64_t here = segments[i].p_offset + segments[i].p_filesz;

		if (segments[i].p_type == PT_NOTE && segments[i].p_offset <= size &&
		    segments[i].p_filesz <= size - segments[i].p_offset && here > end)
			end = here;
	}
	if (err == 0 && header.e_phoff + header.e_phnum * sizeof(*segments) > end)
		end = header.e_phoff + header.e_phnum * sizeof(*segments);
	if (err < 0)
		return err;
	*ret_copy = malloc(end);
	if (!*ret_copy)
		return -ENOMEM;
	err = read_memory(image, end, *ret_copy);
	if (err < 0)
		free(*ret_copy);
	*ret_bytes = end;
	return err;
}

static int ask_code_object(const struct hsa_loader_segment *segment, const char *name,
			   struct dagpatch_parameter *ret_parameters, uint32_t capacity)
{
	void *copy;
	size_t bytes;
	int err;

	if (segment->storage_type != HSA_LOADER_STORAGE_MEMORY)
		return -ENOENT;
	err = copy_notes((const uint8_t *)segment->storage + segment->storage_offset,
			 segment->storage_bytes, &copy, &bytes);
	if (err < 0)
		return err;
	err = amd_code_parameters(copy, bytes, name, ret_parameters, capacity);
	free(copy);
	return err;
}

/* Kernels of several code objects may have one name. Only what all of them say is taken, because
 * the loader does not tell which one a function belongs to. -ENOENT: none, or they differ. */
static int ask_segments(const struct hsa_loader_segment *segments, size_t count, const char *name,
			struct dagpatch_parameter *ret_parameters, uint32_t capacity)
{
	struct dagpatch_parameter *others = calloc(capacity, sizeof(*others));
	uint32_t kept;
	int found = others ? -ENOENT : -ENOMEM;

	for (size_t i = 0; others && i < count; i++) {
		int here = ask_code_object(&segments[i], name, found < 0 ? ret_parameters : others,
					   capacity);

		if (here < 0)
			continue;
		kept = (uint32_t)here < capacity ? (uint32_t)here : capacity;
		if (found < 0) {
			found = here;
		} else if (here != found ||
			   memcmp(others, ret_parameters, kept * sizeof(*others)) != 0) {
			found = -ENOENT;
			break;
		}
	}
	free(others);
	return found;
}

static int ask_code_objects(struct hip_driver *hip, const char *name,
			    struct dagpatch_parameter *ret_parameters, uint32_t capacity)
{
	struct hsa_loader_segment *segments;
	size_t count = 0;
	int err;

	if (hip->loader.query_segment_descriptors(NULL, &count) != 0)
		return -ENOENT;
	segments = calloc(count + 1, sizeof(*segments));
	if (!segments)
		return -ENOMEM;
	if (hip->loader.query_segment_descriptors(segments, &count) != 0)
		count = 0;
	err = ask_segments(segments, count, name, ret_parameters, capacity);
	free(segments);
	return err;
}

/* *RET_NAME is NULL if the kernel has no name. */
static int name_of(struct hip_driver *hip, void *function, const char **ret_name)
{
	int ordinal;
	/* Gives the thread a device. On a thread that has none, because it has called nothing of
	 * HIP, hipKernelNameRefByPtr knows no kernel. */
	int err = HIP_CALL(hip, hipGetDevice, &ordinal);

	if (err < 0)
		return err;
	*ret_name = hip->call.hipKernelNameRefByPtr(function, NULL);
	/* FUNCTION is not a kernel's host address, so it is a hipFunction_t. */
	if (!*ret_name)
		*ret_name = hip->call.hipKernelNameRef(function);
	return 0;
}

int hip_kernel_name(struct patch_device *device, void *function, char *text, size_t size)
{
	const char *name;
	int err = name_of(hip_of(device), function, &name);

	if (err < 0)
		return err;
	if (!name)
		return patch_fault(-ENOTSUP, "hipKernelNameRef", 0, "no name");
	snprintf(text, size, "%s", name);
	return 0;
}

int hip_kernel_parameters(struct patch_device *device, void *function,
			  struct dagpatch_parameter *ret_parameters, uint32_t capacity)
{
	struct hip_driver *hip = hip_of(device);
	const char *name;
	int err = name_of(hip, function, &name);

	if (err < 0)
		return err;
	err = -ENOENT;
	if (name && hip->loader.query_segment_descriptors)
		err = ask_code_objects(hip, name, ret_parameters, capacity);
	if (err == -ENOMEM)
		return patch_fault(err, "amdhsa.kernels", 0, "no memory");
	return err < 0 ? patch_fault(-ENOTSUP, "amdhsa.kernels", 0, "kernel's parameters unknown")
		       : err;
}

void hip_find_loader(struct hip_driver *hip)
{
	int (*get_table)(uint16_t, uint16_t, size_t, void *);
	void *function = dlsym(RTLD_DEFAULT, "hsa_system_get_major_extension_table");

	if (!function)
		function = dlsym(hip->library, "hsa_system_get_major_extension_table");
	if (!function)
		return;
	memcpy(&get_table, &function, sizeof(function));
	if (get_table(HSA_LOADER_EXTENSION, 1, sizeof(hip->loader), &hip->loader) != 0)
		hip->loader = (struct hsa_loader_table){0};
}
