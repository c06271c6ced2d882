// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/plain_kernel_name.hpp"

#include <gtest/gtest.h>

namespace ridgeline::trace {
namespace {

TEST(PlainKernelName, is_the_same_from_every_profiler) {
  const auto* kineto =
      "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1> "
      ">(int, "
      "at::native::FillFunctor<float>, at::detail::Array<char*, 1>)";
  const auto* ncu =
      "void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>, at::detail::Array<char "
      "*, "
      "(int)1>>(int, T2, T3)";
  EXPECT_EQ(plain_kernel_name(kineto), plain_kernel_name(ncu));
  EXPECT_EQ(plain_kernel_name("f<(bool)1, (unsigned int)64>(const T1 *)"),
            plain_kernel_name("void f<true, 64u>(float const*)"));
  EXPECT_EQ(plain_kernel_name("void <unnamed>::g<4>(int)"), plain_kernel_name("void (anonymous namespace)::g<4>(int)"));
  EXPECT_EQ(plain_kernel_name("ampere_sgemm_128x64_nn"), "ampere_sgemm_128x64_nn");
  EXPECT_NE(plain_kernel_name("f<4>(int)"), plain_kernel_name("f<8>(int)"));
  EXPECT_EQ(plain_kernel_name("conv1x1u"), "conv1x1u") << "no number of a template";
}

TEST(PlainKernelName, leaves_out_namespaces_which_some_profilers_print_in_part) {
  EXPECT_EQ(plain_kernel_name("void cudnn::engines_precompiled::nchwToNhwcKernel<float, true, "
                              "(cudnnKernelDataType_t)2>(cudnn::engines_precompiled::nchw2nhwc_params_t<float>)"),
            plain_kernel_name("void engines_precompiled::nchwToNhwcKernel<float, 1, "
                              "2>(engines_precompiled::nchw2nhwc_params_t<T3>)"));
  EXPECT_EQ(plain_kernel_name("void xmma::init_kernel<xmma::wgrad::Params<xmma::Grid_params> >(int)"),
            plain_kernel_name("void init_kernel<xmma::Params<xmma::Grid_params>>(T1)"));
}

TEST(PlainKernelName, leaves_out_the_parameters_of_functions_within) {
  const auto plain = plain_kernel_name(
      "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::Add<float> "
      ">(at::TensorIteratorBase&, at::native::Add<float> const&)::{lambda(int)#1}>(int, at::native::Add<float>)");
  EXPECT_EQ(plain, "elementwise_kernel<128,2,gpu_kernel_impl_nocast<Add<float>>::{lambda(int)#1}>");
  EXPECT_EQ(plain,
            plain_kernel_name("void at::elementwise_kernel<128, 2, void at::gpu_kernel_impl_nocast<at::Add<float>>"
                              "(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)"));
}

TEST(PlainKernelName, tells_lambdas_apart) {
  const auto of = [](const char* outer, const char* inner) {
    return std::string(
               "void at::native::vectorized_elementwise_kernel<4, at::native::Gelu(at::Base&, at::native::Type)"
               "::{lambda()#") +
           outer + "}::operator()() const::{lambda(" + inner + ")#1}, std::array<char*, 2ul> >(int)";
  };
  const auto plain = plain_kernel_name(of("2", "float"));
  EXPECT_EQ(plain, "vectorized_elementwise_kernel<4,Gelu::{lambda()#2}::operator()::{lambda(float)#1},array<char*,2>>");
  EXPECT_EQ(plain,
            plain_kernel_name("void at::vectorized_elementwise_kernel<4, at::Gelu(at::Base &, at::Type)::[lambda() "
                              "(instance 2)]::operator ()() const::[lambda(float) (instance 1)], std::array<char *, 2>>"
                              "(int, T2, T3)"));
  EXPECT_NE(plain, plain_kernel_name(of("1", "float")));
  EXPECT_NE(plain, plain_kernel_name(of("2", "double")));
}

TEST(PlainKernelName, const_and_truth_are_written_one_way) {
  EXPECT_EQ(plain_kernel_name("f<Batched<float const>, void const*, true, false>(int)"),
            plain_kernel_name("f<Batched<const float>, const void *, 1, 0>(int)"));
  EXPECT_EQ(plain_kernel_name("f<-1, -2l>(int)"), plain_kernel_name("f<(int)-1, (long)-2>(int)"));
  EXPECT_NE(plain_kernel_name("f<void>(int)"), plain_kernel_name("f<int>(int)"));
  EXPECT_EQ(plain_kernel_name("constant<truest>"), "constant<truest>");
}

TEST(PlainKernelName, takes_whatever_stands_there) {
  for (const char* name : {"", "(", ")", "::", "<unnamed>::", "f<(", "a(b::", "((((::))))::", "[lambda(",
                           "(instance 1)]", "(anonymous namespace)::", "void", "operator"})
    EXPECT_LE(plain_kernel_name(name).size(), std::string_view(name).size()) << name;
}

}  // namespace
}  // namespace ridgeline::trace
