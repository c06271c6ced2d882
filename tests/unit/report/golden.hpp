// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace ridgeline::report {

/// Compares `actual` with tests/golden/report/<name>; the failure shows the first lines that differ. With
/// RIDGELINE_ACCEPT_GOLDENS=1 in the environment the file is written instead (and the case is skipped, so that an
/// accepting run never passes for a check).
void expect_golden(const std::string& name, std::string_view actual);

}  // namespace ridgeline::report
