// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

/// The tables of a profile, for terminals and reports alike. Names are foreign text: plain_text makes them harmless.
[[nodiscard]] Table time_table(const schema::MessageRenderer& words,
                               const schema::ProfileRun& run);  ///< a row for what each GPU did, or what the host did
[[nodiscard]] std::string kernels_title(const schema::ProfileRun& run);  ///< "Kernels and graph launches"
[[nodiscard]] Table kernels_table(const schema::MessageRenderer& words, const schema::ProfileRun& run,
                                  std::size_t most);
[[nodiscard]] Table copies_table(const schema::MessageRenderer& words, const schema::ProfileRun& run, std::size_t most);
[[nodiscard]] Table lines_table(const schema::ProfileRun& run, std::size_t most);  ///< of Python
[[nodiscard]] Table nodes_table(const schema::ProfileRun& run, std::size_t most);
[[nodiscard]] Table operations_table(const schema::ProfileRun& run, std::size_t most);  ///< nodes by their operation
[[nodiscard]] Table steps_table(const schema::ProfileRun& run);
[[nodiscard]] Table idle_table(const schema::MessageRenderer& words, const schema::ProfileRun& run);

}  // namespace ridgeline::report
