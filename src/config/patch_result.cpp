// SPDX-License-Identifier: Apache-2.0
#include "config/patch_result.hpp"

#include <algorithm>

namespace ridgeline::config {

base::Result<PatchResult> patch_result(PatchBuilder& builder, const std::map<std::string, std::string>& before) {
  RL_TRY_ASSIGN(auto text, builder.finish());
  PatchResult result{std::move(text), {}};
  for (const auto& written : builder.written()) {
    const auto old = before.find(written.key);
    result.edits.push_back({written.key, written.path, written.line,
                            old != before.end() ? std::optional(old->second) : std::nullopt, written.source,
                            written.commented});
  }
  std::stable_sort(result.edits.begin(), result.edits.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
  return result;
}

}  // namespace ridgeline::config
