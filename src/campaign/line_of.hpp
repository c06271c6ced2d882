// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schema/message.hpp"

namespace ridgeline::campaign {

/// Text and advice, for an error that repeats what a module below says of a trial.
[[nodiscard]] std::string line_of(const schema::Message& message);
/// Whether its sentence has an advice.
[[nodiscard]] bool advises(const schema::Message& message);

}  // namespace ridgeline::campaign
