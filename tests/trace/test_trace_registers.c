/* The number of registers that a kernel descriptor encodes: the examples of LLVM's user guide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/load/registers.h"

#define WAVE_32 (1u << 10)
#define OTHERS	0xac0000u /* other bits: rounding modes and the like */

static void steps_of_architectures(void **state)
{
	assert_int_equal(registers_of_kernel("gfx906", OTHERS, 0), 4);
	assert_int_equal(registers_of_kernel("gfx906", OTHERS | 11, 0), 48);
	assert_int_equal(registers_of_kernel("gfx906", OTHERS | 63, 0), 256);
	assert_int_equal(registers_of_kernel("gfx90a", OTHERS | 63, 0), 512);
	assert_int_equal(registers_of_kernel("gfx942", OTHERS | 3, 0), 32);
	assert_int_equal(registers_of_kernel("gfx950", OTHERS | 3, 0), 32);
	assert_int_equal(registers_of_kernel("gfx90c", OTHERS | 3, 0), 16);
	assert_int_equal(registers_of_kernel("gfx1030", OTHERS | 3, WAVE_32), 32);
	assert_int_equal(registers_of_kernel("gfx1030", OTHERS | 3, 0), 16);
}

static void scalar_registers(void **state)
{
	assert_int_equal(scalar_registers_of_kernel("gfx906", OTHERS), 16);
	assert_int_equal(scalar_registers_of_kernel("gfx90a", OTHERS | 12 << 6), 112);
	assert_int_equal(scalar_registers_of_kernel("gfx1030", OTHERS | 12 << 6), 0);
	assert_int_equal(scalar_registers_of_kernel("gfx906", 0), 0);
}

static void wave_modes(void **state)
{
	struct wave_mode mode = wave_mode_of_kernel("gfx1030", OTHERS | 1u << 29, WAVE_32);

	assert_int_equal(mode.size, 32);
	assert_true(mode.is_wgp);
	mode = wave_mode_of_kernel("gfx1201", OTHERS, 0);
	assert_int_equal(mode.size, 64);
	assert_false(mode.is_wgp);
	/* gfx9 has neither, whatever the bits are; and without a descriptor nothing is known. */
	mode = wave_mode_of_kernel("gfx942", OTHERS | 1u << 29, WAVE_32);
	assert_int_equal(mode.size, 0);
	assert_false(mode.is_wgp);
	assert_int_equal(wave_mode_of_kernel("gfx1030", 0, WAVE_32).size, 0);
}

static void what_is_not_known_is_not_said(void **state)
{
	assert_int_equal(registers_of_kernel("gfx906", 0, 0), 0);
	assert_int_equal(registers_of_kernel("NVIDIA H200", OTHERS | 3, 0), 0);
	assert_int_equal(registers_of_kernel("", OTHERS | 3, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_of_architectures),
		cmocka_unit_test(scalar_registers),
		cmocka_unit_test(wave_modes),
		cmocka_unit_test(what_is_not_known_is_not_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
