/* Image objects: sizes, linear copies and handles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hsa/hsa_ext_image.h>

#include "raw_machine.h"

static struct machine machine;

static const hsa_ext_image_descriptor_t flat = {
	.geometry = HSA_EXT_IMAGE_GEOMETRY_2D,
	.width = 20,
	.height = 6,
	.format = {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16, HSA_EXT_IMAGE_CHANNEL_ORDER_RG},
};

static int open_machine(void **state)
{
	machine_open("gfx906", &machine);
	return 0;
}

static hsa_status_t measure(const hsa_ext_image_descriptor_t *descriptor,
			    hsa_ext_image_data_info_t *ret_info)
{
	return hsa_ext_image_data_get_info(machine.gpu[0], descriptor, HSA_ACCESS_PERMISSION_RW,
					   ret_info);
}

static void size_of_an_image(void **state)
{
	hsa_ext_image_data_info_t info;

	/* Rows of 80 bytes are placed 256 bytes apart. */
	assert_int_equal(measure(&flat, &info), HSA_STATUS_SUCCESS);
	assert_int_equal(info.size, 6 * 256);
	assert_int_equal(info.alignment, 256);
}

static void descriptors_refused(void **state)
{
	hsa_ext_image_data_info_t info;
	hsa_ext_image_descriptor_t wrong = flat;

	wrong.format.channel_type = HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565;
	assert_int_equal(measure(&wrong, &info), HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
	wrong = flat;
	wrong.width = SIZE_MAX;
	assert_int_equal(measure(&wrong, &info), HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);
	wrong = flat;
	wrong.width = wrong.height = wrong.depth = wrong.array_size = 1u << 27;
	assert_int_equal(measure(&wrong, &info), HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);
	assert_int_equal(hsa_ext_image_data_get_info_with_layout(
				 machine.gpu[0], &flat, HSA_ACCESS_PERMISSION_RW,
				 HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 64, 0, &info),
			 HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);
	assert_int_equal(measure(NULL, &info), HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(
		hsa_ext_image_data_get_info(machine.cpu, &flat, HSA_ACCESS_PERMISSION_RW, &info),
		HSA_STATUS_ERROR_INVALID_AGENT);
}

static void region_there_and_back(void **state)
{
	const hsa_ext_image_region_t region = {{3, 1, 0}, {10, 4, 1}};
	const hsa_ext_image_region_t outside = {{11, 0, 0}, {10, 4, 1}};
	char *data = machine_allocate(machine.vram[0], 6 * 256);
	char from[10 * 4 * 4];
	char to[10 * 4 * 4] = {0};
	hsa_ext_image_t image;

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)(i + 1);
	assert_int_equal(
		hsa_ext_image_create(machine.gpu[0], &flat, data, HSA_ACCESS_PERMISSION_RW, &image),
		HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_ext_image_import(machine.gpu[0], from, 0, 0, image, &region),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(data[256 + 12], 1);
	assert_int_equal(data[256 + 11], 0);
	assert_int_equal(hsa_ext_image_export(machine.gpu[0], image, to, 0, 0, &region),
			 HSA_STATUS_SUCCESS);
	assert_memory_equal(from, to, sizeof(from));
	assert_int_equal(hsa_ext_image_export(machine.gpu[0], image, to, 0, 0, &outside),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_ext_image_destroy(machine.gpu[0], image), HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_ext_image_destroy(machine.gpu[0], image),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	hsa_amd_memory_pool_free(data);
}

static void samplers_are_no_images(void **state)
{
	const hsa_ext_sampler_descriptor_t descriptor = {0};
	hsa_ext_sampler_t sampler;

	assert_int_equal(hsa_ext_sampler_create(machine.gpu[0], &descriptor, &sampler),
			 HSA_STATUS_SUCCESS);
	assert_int_equal(hsa_ext_image_destroy(machine.gpu[0], (hsa_ext_image_t){sampler.handle}),
			 HSA_STATUS_ERROR_INVALID_ARGUMENT);
	assert_int_equal(hsa_ext_sampler_destroy(machine.gpu[0], sampler), HSA_STATUS_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(size_of_an_image),
		cmocka_unit_test(descriptors_refused),
		cmocka_unit_test(region_there_and_back),
		cmocka_unit_test(samplers_are_no_images),
	};

	return cmocka_run_group_tests_name("images", tests, open_machine, NULL);
}
