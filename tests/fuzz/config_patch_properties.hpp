// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "config/config_patch.hpp"

namespace ridgeline::fuzz {

/// What must hold for any bytes whatsoever; "" or the sentence that does not. Shared by the fuzzer and the seeded test.
[[nodiscard]] inline std::string broken_property(std::string_view yaml) {
  const schema::Configuration wanted{{"intra_op_num_threads", 5},
                                     {"execution_mode", "parallel"},
                                     {"enable_mem_pattern", false},
                                     {"intra_op_thread_affinities", "1,2;3"}};
  const auto found = config::read_settings(yaml, "fuzz.yaml", {});
  if (!found && found.error().code != base::ErrorCode::invalid_argument)
    return "read_settings: " + found.error().message;
  const auto result = config::patch_settings(yaml, "fuzz.yaml", wanted, {});
  if (!result) return result.error().message.find('\n') == std::string::npos ? "" : "an error of several lines";
  const auto again = config::patch_settings(result->text, "fuzz.yaml", wanted, {});
  if (!again) return "a second patch fails: " + again.error().message;
  if (again->text != result->text || !again->edits.empty()) return "a second patch changes the file again";
  std::size_t edited = 0;
  for (const auto& edit : result->edits) edited += edit.before ? edit.before->size() : 0;
  if (result->text.size() + edited < yaml.size()) return "more bytes vanished than the old values had";
  (void)config::unified_diff(yaml, result->text, "fuzz.yaml");
  return "";
}

}  // namespace ridgeline::fuzz
