// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "schema/environment.hpp"
#include "schema/message.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::execute {

/// The ExecutionProvider::id of what was asked for; for "" and "auto" that of the most wanted provider that is usable
/// here. Errors: unavailable, when the machine or the runtime cannot do what was asked for.
[[nodiscard]] base::Result<std::string> resolve_provider(const std::string& asked,
                                                         const schema::RuntimeIdentity& runtime,
                                                         const schema::Environment& environment);

/// Why no GPU was chosen that is there, or that the machine seems to be made for; empty when one was chosen, or nobody
/// expects one.
[[nodiscard]] schema::Message idle_gpu_note(const std::string& provider, const schema::RuntimeIdentity& runtime,
                                            const schema::Environment& environment);

}  // namespace ridgeline::execute
