// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ridgeline::trace {

/// A kernel's name without what profilers print differently: "elementwise_kernel<128,gpu_kernel_impl<Add<float>>::
/// {lambda(int)#1}>" of
///   void at::native::elementwise_kernel<128, at::native::gpu_kernel_impl<at::native::Add<float> >(Iterator&,
///     at::native::Add<float> const&)::{lambda(int)#1}>(int, ...)                                            (Kineto)
///   void at::elementwise_kernel<(int)128, void at::gpu_kernel_impl<at::Add<float>>(Iterator &, const T1 &)::
///     [lambda(int) (instance 1)]>(int, T3)                                                                  (ncu)
/// Left out are namespaces (of which ncu prints some), parameters, return types, const, blanks, casts of template
/// arguments and suffixes of numbers; true and false are 1 and 0.
[[nodiscard]] std::string plain_kernel_name(std::string_view name);

}  // namespace ridgeline::trace
