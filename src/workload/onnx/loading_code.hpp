// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "schema/candidate.hpp"

namespace ridgeline::workload {

/// How a program of C++ comes by ONNX Runtime.
enum class RuntimeAccess {
  linked,  ///< as the user's has it now
  opened,  ///< the trial's file, at run time: a program that is linked to one cannot load another
};

/// Lines of Python and C++ that open a session as that trial had it: runtime, provider and settings. Settings that no
/// session takes (how many there are, their batch, the arena) are named in a comment. Errors: invalid_argument for
/// options that cannot be written out.
[[nodiscard]] base::Result<schema::LoadingCode> loading_code(const schema::TrialSpec& spec, RuntimeAccess library);

}  // namespace ridgeline::workload
