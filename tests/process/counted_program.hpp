// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// What recorded_program does that has to do with counting: steps of a model of two modules, and something else in the
/// second of them, which `what` names. Its exit code; -1: `what` is not of these.
int run_counted(const std::string& what, void* inject_library);
