// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "schema/message_template.hpp"

namespace ridgeline::report {

/// The catalogues of all modules, for the renderer that main makes. The build defines it, in a library of its own
/// (rl_message_tables): report itself knows none of them.
[[nodiscard]] std::span<const schema::MessageTable> message_tables();

/// What the messages of records said while records held their texts, as far as that has changed since: for
/// MessageReader. Messages that were reworded later are not added, as records hold codes now.
[[nodiscard]] schema::MessageTable former_messages();

}  // namespace ridgeline::report
