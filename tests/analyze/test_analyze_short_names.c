/* Short names of kernels, as PyTorch, cuBLAS, CUTLASS, CUB and rocBLAS name them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/short_names.h"

#define ELEMENTWISE "void at::native::vectorized_elementwise_kernel<4, at::native::"

/* Pairs of a full name and its short name, all of one table. */
static const char *const pairs[][2] = {
	{ELEMENTWISE "CUDAFunctor_mul<float>, std::array<char*, 3ul> >(int, "
		     "at::native::CUDAFunctor_mul<float>, std::array<char*, 3ul>)",
	 "vectorized_elementwise_kernel<CUDAFunctor_mul>"},
	/* Two that differ in the type alone. */
	{ELEMENTWISE "CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
		     "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
	 "vectorized_elementwise_kernel<CUDAFunctor_add<float>>"},
	{ELEMENTWISE "CUDAFunctor_add<c10::Half>, std::array<char*, 3ul> >(int, "
		     "at::native::CUDAFunctor_add<c10::Half>, std::array<char*, 3ul>)",
	 "vectorized_elementwise_kernel<CUDAFunctor_add<Half>>"},
	{ELEMENTWISE "AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor"
		     "<float> >, std::array<char*, 2ul> >(int, at::native::AUnaryFunctor<float>)",
	 "vectorized_elementwise_kernel<AUnaryFunctor<MulFunctor>>"},
	{ELEMENTWISE "(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, "
		     "c10::Scalar, at::native::detail::ClampLimits)::{lambda()#1}::operator()() "
		     "const::{lambda()#7}::operator()() const::{lambda(float)#1}, "
		     "std::array<char*, 2ul> >(int, std::array<char*, 2ul>)",
	 "vectorized_elementwise_kernel<launch_clamp_scalar>"},
	/* Two that differ in a number alone. */
	{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, float> >(int)",
	 "reduce_kernel<512, 1, ReduceOp<float, float>>"},
	{"void at::native::reduce_kernel<256, 1, at::native::ReduceOp<float, float> >(int)",
	 "reduce_kernel<256, 1, ReduceOp<float, float>>"},
	/* Two that differ in the parameters alone. */
	{"fill(float*, int)", "fill(float*, int)"},
	{"fill(double*, int)", "fill(double*, int)"},
	/* Two that differ in the namespace alone. */
	{"void one::scale<float>(float*)", "void one::scale<float>(float*)"},
	{"void two::scale<float>(float*)", "void two::scale<float>(float*)"},
	{"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_32x6_nn_align4>(cutlass_80::P)",
	 "Kernel2<cutlass_80_tensorop_s1688gemm_64x64_32x6_nn_align4>"},
	{"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, "
	 "(bool)0>(cublasGemvParams<float>)",
	 "kernel"},
	{"sm80_xmma_gemm_f32f32_execute_kernel__5x_cublas",
	 "sm80_xmma_gemm_f32f32_execute_kernel__5x_cublas"},
	{"Cijk_Ailk_Bljk_SB_MT64x64x8_SE_K1.kd", "Cijk_Ailk_Bljk_SB_MT64x64x8_SE_K1.kd"},
	{"(anonymous namespace)::softmax(float*)", "softmax"},
	{"Functor::operator()(int) const", "Functor"},
	{"loop_add_fusion", "loop_add_fusion"},
	{"", ""},
};

#define PAIR_COUNT (sizeof(pairs) / sizeof(pairs[0]))

static void names_are_short_and_different(void **state)
{
	const char *names[2 * PAIR_COUNT];
	struct short_names made;

	for (size_t i = 0; i < PAIR_COUNT; i++)
		names[i] = names[PAIR_COUNT + i] = pairs[i][0];
	assert_int_equal(short_names_make(names, 2 * PAIR_COUNT, &made), 0);
	assert_int_equal(made.count, PAIR_COUNT);
	for (size_t i = 0; i < PAIR_COUNT; i++)
		assert_string_equal(short_names_find(&made, pairs[i][0]), pairs[i][1]);
	assert_string_equal(short_names_find(&made, "(unknown kernel)"), "(unknown kernel)");
	short_names_release(&made);
}

/* Texts that are no names of C++ give some name too. */
static void any_text_has_a_name(void **state)
{
	static const char *const texts[] = {
		"<",	  ">",	    "a<b",	"a>::",	     "((((",  "f(",
		"::",	  "a::",    " ( )",	"operator<", "x<<<>", "{}::",
		"a<,,>(", "<>::<>", "operator", "a<b<c<d",   ")(",    "void (*f)(int)"};
	uint32_t count = sizeof(texts) / sizeof(texts[0]);
	struct short_names made;

	assert_int_equal(short_names_make(texts, count, &made), 0);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(short_names_find(&made, texts[i]),
						short_names_find(&made, texts[j]));
	}
	short_names_release(&made);
	assert_int_equal(short_names_make(texts, 0, &made), 0);
	assert_string_equal(short_names_find(&made, "a"), "a");
	short_names_release(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_short_and_different),
		cmocka_unit_test(any_text_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
