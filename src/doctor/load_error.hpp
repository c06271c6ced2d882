// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "schema/message.hpp"

namespace ridgeline::doctor {

/// Why a shared library does not load, taken from the loader's words.
struct LoadProblem {
  std::string thing;     ///< the first missing file, symbol or version: "libcupti.so.13", "cudaGraphAddNode_v2"
  schema::Message what;  ///< "libcupti.so.13 is not found"
  schema::Message fix;
};

/// `message`: dlerror's text, of glibc or musl.
[[nodiscard]] LoadProblem explain_load_error(std::string_view message);

/// The file with that name is simply not there, rather than broken.
[[nodiscard]] bool is_just_absent(std::string_view message, std::string_view name);

}  // namespace ridgeline::doctor
