/* Code objects through the public interface: readers, executables, symbols, and the loader
 * extension. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <hsa/hsa_ven_amd_loader.h>

#include "../launched.h"
#include "raw_machine.h"

static struct machine machine;
static uint8_t *kernels;
static size_t kernels_bytes;
static hsa_ven_amd_loader_1_03_pfn_t loader;

static int open_machine(void **state)
{
	machine_open("gfx906,gpus=2,vram=1M", &machine);
	kernels = machine_read_data("kernels.gfx906.co", &kernels_bytes);
	return hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof(loader),
						    &loader) == HSA_STATUS_SUCCESS
		       ? 0
		       : -1;
}

static int close_machine(void **state)
{
	free(kernels);
	return 0;
}

static hsa_executable_t make_executable(void)
{
	hsa_executable_t executable;

	assert_int_equal(hsa_executable_create_alt(HSA_PROFILE_FULL,
						   HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
						   &executable),
			 HSA_STATUS_SUCCESS);
	return executable;
}

static hsa_status_t load(hsa_executable_t executable, hsa_agent_t agent, const void *bytes,
			 size_t size, hsa_loaded_code_object_t *ret_loaded)
{
	hsa_code_object_reader_t reader;
	hsa_status_t status;

	assert_int_equal(hsa_code_object_reader_create_from_memory(bytes, size, &reader),
			 HSA_STATUS_SUCCESS);
	status = hsa_executable_load_agent_code_object(executable, agent, reader, NULL, ret_loaded);
	assert_int_equal(hsa_code_object_reader_destroy(reader), HSA_STATUS_SUCCESS);
	return status;
}

static hsa_executable_t load_kernels(hsa_agent_t agent, hsa_loaded_code_object_t *ret_loaded)
{
	hsa_executable_t executable = make_executable();

	assert_int_equal(load(executable, agent, kernels, kernels_bytes, ret_loaded),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_executable_freeze(executable, NULL), HSA_STATUS_SUCCESS);
	return executable;
}

static uint32_t symbol_u32(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute)
{
	uint32_t value = UINT32_MAX;

	assert_int_equal(hsa_executable_symbol_get_info(symbol, attribute, &value),
			 HSA_STATUS_SUCCESS);
	return value;
}

static uint64_t symbol_u64(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute)
{
	uint64_t value = 0;

	assert_int_equal(hsa_executable_symbol_get_info(symbol, attribute, &value),
			 HSA_STATUS_SUCCESS);
	return value;
}

static void kernel_symbol(void **state)
{
	hsa_executable_t executable = load_kernels(machine.gpu[0], NULL);
	hsa_executable_symbol_t symbol;
	char name[9] = "????????";
	uint64_t unused;

	assert_int_equal(
		hsa_executable_get_symbol_by_name(executable, "scale.kd", &machine.gpu[0], &symbol),
		HSA_STATUS_SUCCESS);
	assert_int_equal(symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE),
			 HSA_SYMBOL_KIND_KERNEL);
	assert_int_equal(symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH), 8);
	hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name);
	assert_string_equal(name, "scale.kd");
	assert_int_equal(symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE),
			 24);
	assert_int_equal(symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE),
			 1024);
	assert_int_equal(symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE),
			 16);
	assert_int_equal(symbol_u64(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT) % 64, 0);
	assert_int_equal(symbol_u64(symbol, HSA_EXECUTABLE_SYMBOL_INFO_AGENT),
			 machine.gpu[0].handle);
	assert_int_equal(hsa_executable_symbol_get_info(
				 symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &unused),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
	assert_int_equal(
		hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &unused),
		HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
}

static void variable_symbol(void **state)
{
	hsa_executable_t executable = load_kernels(machine.gpu[1], NULL);
	hsa_executable_symbol_t symbol;
	uint64_t total = 0;

	assert_int_equal(
		hsa_executable_get_symbol_by_name(executable, "total", &machine.gpu[1], &symbol),
		HSA_STATUS_SUCCESS);
	assert_int_equal(symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE),
			 HSA_SYMBOL_KIND_VARIABLE);
	assert_int_equal(symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE), 8);
	hsa_memory_copy(&total,
			(void *)symbol_u64(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS), 8);
	assert_int_equal(total, 42);
	/* The code object was loaded for one GPU only. */
	assert_int_equal(
		hsa_executable_get_symbol_by_name(executable, "total", &machine.gpu[0], &symbol),
		HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
	assert_int_equal(
		hsa_executable_get_symbol_by_name(executable, "nothing", &machine.gpu[1], &symbol),
		HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
	assert_int_equal(hsa_executable_get_symbol_by_name(executable, "total", NULL, &symbol),
			 HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
	assert_int_equal(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
}

static hsa_status_t count_kernels(hsa_executable_t executable, hsa_agent_t agent,
				  hsa_executable_symbol_t symbol, void *data)
{
	*(uint32_t *)data +=
		symbol_u32(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE) == HSA_SYMBOL_KIND_KERNEL;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t count_all(hsa_executable_t executable, hsa_executable_symbol_t symbol,
			      void *data)
{
	++*(uint32_t *)data;
	return HSA_STATUS_SUCCESS;
}

static void symbols_are_iterated_by_agent(void **state)
{
	hsa_executable_t executable = make_executable();
	uint32_t count = 0;

	assert_int_equal(load(executable, machine.gpu[0], kernels, kernels_bytes, NULL),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(load(executable, machine.gpu[1], kernels, kernels_bytes, NULL),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_executable_iterate_agent_symbols(executable, machine.gpu[1],
							      count_kernels, &count),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(count, 2);
	count = 0;
	assert_int_equal(hsa_executable_iterate_symbols(executable, count_all, &count),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(count, 10);
	count = 0;
	assert_int_equal(hsa_executable_iterate_program_symbols(executable, count_all, &count),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(count, 0);
	hsa_executable_destroy(executable);
}

static void states_of_an_executable(void **state)
{
	hsa_executable_t executable = make_executable();
	hsa_executable_state_t executable_state = HSA_EXECUTABLE_STATE_FROZEN;
	uint32_t result = 1;

	hsa_executable_get_info(executable, HSA_EXECUTABLE_INFO_STATE, &executable_state);
	assert_int_equal(executable_state, HSA_EXECUTABLE_STATE_UNFROZEN);
	assert_int_equal(hsa_executable_freeze(executable, NULL), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_executable_freeze(executable, NULL),
			 HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
	assert_int_equal(load(executable, machine.gpu[0], kernels, kernels_bytes, NULL),
			 HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
	assert_int_equal(hsa_executable_validate_alt(executable, NULL, &result),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(result, 0);
	assert_int_equal(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_executable_destroy(executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
	assert_int_equal(hsa_executable_freeze(executable, NULL),
			 HSA_STATUS_ERROR_INVALID_EXECUTABLE);
}

static void memory_is_given_back(void **state)
{
	/* 1 MiB of VRAM holds a few dozen of these at a time, so an executable that is not freed
	 * shows. */
	for (int i = 0; i < 500; i++)
		hsa_executable_destroy(load_kernels(machine.gpu[0], NULL));
}

static void broken_objects(void **state)
{
	hsa_executable_t executable = make_executable();
	const hsa_code_object_reader_t nothing = {99};
	uint8_t *text = calloc(1, 1000);

	assert_int_equal(load(executable, machine.gpu[0], text, 1000, NULL),
			 HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	for (size_t size = 1; size < kernels_bytes; size += 97)
		assert_int_equal(load(executable, machine.gpu[0], kernels, size, NULL),
				 HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	assert_int_equal(load(executable, machine.cpu, kernels, kernels_bytes, NULL),
			 HSA_STATUS_ERROR_INVALID_AGENT);
	kernels[48] ^= 0x10; /* e_flags: gfx906 becomes gfx90a */
	assert_int_equal(load(executable, machine.gpu[0], kernels, kernels_bytes, NULL),
			 HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
	kernels[48] ^= 0x10;
	assert_int_equal(hsa_executable_load_agent_code_object(executable, machine.gpu[0], nothing,
							       NULL, NULL),
			 HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
	assert_int_equal(hsa_code_object_reader_destroy(nothing),
			 HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
	hsa_executable_destroy(executable);
	free(text);
}

static void external_variable(void **state)
{
	hsa_executable_t executable = make_executable();
	hsa_executable_symbol_t symbol;
	uint64_t link[2] = {0};
	uint64_t target[2];
	size_t size;
	uint8_t *bytes = machine_read_data("external.gfx906.co", &size);

	assert_int_equal(load(executable, machine.gpu[0], bytes, size, NULL),
			 HSA_STATUS_ERROR_VARIABLE_UNDEFINED);
	assert_int_equal(hsa_executable_agent_global_variable_define(executable, machine.gpu[0],
								     "elsewhere", target),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_executable_agent_global_variable_define(executable, machine.gpu[0],
								     "elsewhere", target),
			 HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
	assert_int_equal(load(executable, machine.gpu[0], bytes, size, NULL), HSA_STATUS_SUCCESS);
	hsa_executable_get_symbol_by_name(executable, "link", &machine.gpu[0], &symbol);
	hsa_memory_copy(link,
			(void *)symbol_u64(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS),
			sizeof(link));
	assert_int_equal(link[0], (uintptr_t)&target[1]);
	assert_int_equal(link[1], 0);
	hsa_executable_destroy(executable);
	free(bytes);
}

static hsa_status_t take_loaded(hsa_executable_t executable, hsa_loaded_code_object_t loaded,
				void *data)
{
	*(hsa_loaded_code_object_t *)data = loaded;
	return HSA_STATUS_SUCCESS;
}

static uint64_t loaded_u64(hsa_loaded_code_object_t loaded,
			   hsa_ven_amd_loader_loaded_code_object_info_t attribute)
{
	uint64_t value = 0;

	assert_int_equal(
		loader.hsa_ven_amd_loader_loaded_code_object_get_info(loaded, attribute, &value),
		HSA_STATUS_SUCCESS);
	return value;
}

static void loader_extension(void **state)
{
	hsa_loaded_code_object_t first;
	hsa_loaded_code_object_t loaded = {0};
	hsa_executable_t executable = load_kernels(machine.gpu[1], &first);
	hsa_executable_t found = {0};
	hsa_executable_symbol_t symbol;
	uint64_t kernel_object;
	uint64_t base;
	char uri[4 * TEST_PATH_BYTES] = {0};
	const void *host;

	hsa_executable_get_symbol_by_name(executable, "scale.kd", &machine.gpu[1], &symbol);
	kernel_object = symbol_u64(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
	assert_int_equal(loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
				 executable, take_loaded, &loaded),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(loaded.handle, first.handle);
	base = loaded_u64(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE);
	assert_true(
		kernel_object >= base &&
		kernel_object - base <
			loaded_u64(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE));
	assert_int_equal(loaded_u64(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA),
			 base);
	assert_int_equal(loaded_u64(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT),
			 machine.gpu[1].handle);
	assert_int_equal(
		loaded_u64(
			loaded,
			HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE),
		(uintptr_t)kernels);
	loader.hsa_ven_amd_loader_loaded_code_object_get_info(
		loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, uri);
	assert_memory_equal(uri, "memory://", 9);
	assert_int_equal(loader.hsa_ven_amd_loader_query_executable((void *)kernel_object, &found),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(found.handle, executable.handle);
	assert_int_equal(loader.hsa_ven_amd_loader_query_executable(&found, &found),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(loader.hsa_ven_amd_loader_query_host_address((void *)kernel_object, &host),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(*(const uint32_t *)host, 1024);
	hsa_executable_destroy(executable);
	assert_int_equal(loader.hsa_ven_amd_loader_loaded_code_object_get_info(
				 loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, uri),
			 HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

static void segment_descriptors(void **state)
{
	hsa_executable_t first = load_kernels(machine.gpu[0], NULL);
	hsa_executable_t second = load_kernels(machine.gpu[1], NULL);
	hsa_ven_amd_loader_segment_descriptor_t descriptors[2];
	size_t count = 0;

	assert_int_equal(loader.hsa_ven_amd_loader_query_segment_descriptors(NULL, &count),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(count, 2);
	assert_int_equal(loader.hsa_ven_amd_loader_query_segment_descriptors(descriptors, &count),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(descriptors[0].executable.handle, first.handle);
	assert_int_equal(descriptors[1].agent.handle, machine.gpu[1].handle);
	assert_ptr_equal(descriptors[1].code_object_storage_base, kernels);
	count = 1;
	assert_int_equal(loader.hsa_ven_amd_loader_query_segment_descriptors(descriptors, &count),
			 HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
	count = 0;
	assert_int_equal(loader.hsa_ven_amd_loader_query_segment_descriptors(descriptors, &count),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_executable_destroy(first);
	hsa_executable_destroy(second);
}

static void readers_of_files(void **state)
{
	hsa_loaded_code_object_t loaded;
	hsa_executable_t executable = make_executable();
	hsa_code_object_reader_t reader;
	char path[TEST_PATH_BYTES];
	int file = mkstemp(test_path(path, "code object"));
	int pipes[2];
	char uri[4 * TEST_PATH_BYTES] = {0};

	assert_true(file >= 0);
	assert_int_equal(pwrite(file, kernels, kernels_bytes, 512), kernels_bytes);
	assert_int_equal(
		loader.hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(
			file, 512, kernels_bytes, &reader),
		HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_executable_load_agent_code_object(executable, machine.gpu[0], reader,
							       NULL, &loaded),
			 HSA_STATUS_SUCCESS);
	hsa_code_object_reader_destroy(reader);
	loader.hsa_ven_amd_loader_loaded_code_object_get_info(
		loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI, uri);
	assert_memory_equal(uri, "file:///", 8);
	assert_non_null(strstr(uri, "/code%20object-"));
	assert_non_null(strstr(uri, "#offset=512&size="));
	assert_int_equal(
		loader.hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(
			file, 512, kernels_bytes + 1, &reader),
		HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
	assert_int_equal(hsa_code_object_reader_create_from_file(-1, &reader),
			 HSA_STATUS_ERROR_INVALID_FILE);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(hsa_code_object_reader_create_from_file(pipes[0], &reader),
			 HSA_STATUS_ERROR_INVALID_FILE);
	close(pipes[0]);
	close(pipes[1]);
	close(file);
	unlink(path);
	hsa_executable_destroy(executable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_symbol),
		cmocka_unit_test(variable_symbol),
		cmocka_unit_test(symbols_are_iterated_by_agent),
		cmocka_unit_test(states_of_an_executable),
		cmocka_unit_test(memory_is_given_back),
		cmocka_unit_test(broken_objects),
		cmocka_unit_test(external_variable),
		cmocka_unit_test(loader_extension),
		cmocka_unit_test(segment_descriptors),
		cmocka_unit_test(readers_of_files),
	};

	return cmocka_run_group_tests_name("executables", tests, open_machine, close_machine);
}
