// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "execute/stream_child.hpp"
#include "run/kind.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::campaign {

/// What a pipeline's process needs to run on that TrialSpec::device.
using MakeStreamChild = std::function<base::Result<execute::StreamChildOptions>(const std::string& device)>;

/// Runs of `ridgeline stream`. `words` outlives them.
[[nodiscard]] std::unique_ptr<run::Kind> make_stream_kind(const schema::MessageRenderer& words, MakeStreamChild make);

}  // namespace ridgeline::campaign
