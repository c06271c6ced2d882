// SPDX-License-Identifier: Apache-2.0
#include "report/failed_trials.hpp"

#include <algorithm>

#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

constexpr std::size_t kShownCause = 200;  // characters

}  // namespace

std::optional<Paragraph> failed_trials(const schema::MessageRenderer& words, const std::vector<std::string>& causes,
                                       std::size_t trials) {
  if (causes.empty()) return std::nullopt;
  const auto times = [&](const std::string& cause) { return std::count(causes.begin(), causes.end(), cause); };
  const auto most = *std::max_element(causes.begin(), causes.end(),
                                      [&](const auto& a, const auto& b) { return times(a) < times(b); });
  return Paragraph{plain_text(words.text(messages::trials_failed({.failed = std::ssize(causes),
                                                                  .trials = static_cast<std::int64_t>(trials),
                                                                  .same = times(most) == std::ssize(causes),
                                                                  .cause = shorten(one_line(most), kShownCause)})))};
}

}  // namespace ridgeline::report
