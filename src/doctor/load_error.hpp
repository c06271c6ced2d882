// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ridgeline::doctor {

/// Why a shared library does not load, taken from the loader's words.
struct LoadProblem {
  std::string thing;  ///< the first missing file or symbol: "libcupti.so.13", "symbol cudaGraphAddNode_v2"
  std::string why;    ///< "is not found", "is missing in /x/liby.so.2", "is damaged"
  std::string fix;
};

/// `message`: dlerror's text, of glibc or musl.
[[nodiscard]] LoadProblem explain_load_error(std::string_view message);

/// The file with that name is simply not there, rather than broken.
[[nodiscard]] bool is_just_absent(std::string_view message, std::string_view name);

}  // namespace ridgeline::doctor
