// SPDX-License-Identifier: Apache-2.0
#include "trace/torch_files.hpp"

#include <algorithm>
#include <array>

namespace ridgeline::trace {

bool is_of_torch(std::string_view file) {
  constexpr std::array<std::string_view, 6> kInPaths{"-packages/torch/", "/pytorch/torch/", "/torchinductor_",
                                                     "<eval_with_key>",  "<frozen ",        "<torch_package"};
  return file.starts_with("torch/") || std::any_of(kInPaths.begin(), kInPaths.end(), [&](auto part) {
           return file.find(part) != std::string_view::npos;
         });
}

}  // namespace ridgeline::trace
