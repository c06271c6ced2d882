// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/step_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/file.hpp"
#include "campaign/messages.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::campaign {
namespace {

using Ineffective = messages::VerifyIneffectiveWhy;

constexpr std::size_t kLeastBlocks = 3;

/// As python/ridgeline_profile/verify/changes.py has them.
constexpr std::array kReasons{std::pair{"no_model", Ineffective::no_model},
                              std::pair{"no_gpu", Ineffective::no_gpu},
                              std::pair{"no_fp32", Ineffective::no_fp32},
                              std::pair{"set_back", Ineffective::set_back},
                              std::pair{"no_compile", Ineffective::no_compile},
                              std::pair{"already", Ineffective::already},
                              std::pair{"no_frames", Ineffective::no_frames},
                              std::pair{"no_graphs", Ineffective::no_graphs},
                              std::pair{"no_convolution", Ineffective::no_convolution},
                              std::pair{"no_loader", Ineffective::no_loader},
                              std::pair{"given", Ineffective::given},
                              std::pair{"iterable", Ineffective::iterable},
                              std::pair{"no_optimizer", Ineffective::no_optimizer},
                              std::pair{"no_fused", Ineffective::no_fused}};

Ineffective reason_of(const std::string& word) {
  const auto* found =
      std::find_if(kReasons.begin(), kReasons.end(), [&](const auto& reason) { return word == reason.first; });
  return found == kReasons.end() ? Ineffective::unknown : found->second;
}

/// Largest difference over the largest value; nullopt: they are not of the same kind.
std::optional<double> output_error(const std::optional<StepOutputs>& a, const std::optional<StepOutputs>& b) {
  if (!a || !b || a->tensors != b->tensors || a->values.size() != b->values.size()) return std::nullopt;
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < a->values.size(); ++i) {
    const auto& one = a->values[i];
    const auto& other = b->values[i];
    if (one.has_value() != other.has_value()) return std::nullopt;
    if (!one) continue;
    largest = std::max(largest, std::abs(*one));
    difference = std::max(difference, std::abs(*one - *other));
  }
  return largest > 0 ? difference / largest : difference;
}

schema::Message outputs_message(const StepReport& present, const StepReport& again, const StepReport& changed) {
  const auto noise = output_error(present.outputs, again.outputs);
  if (!noise) return messages::verify_outputs_unlike();
  if (*noise > 0) return messages::verify_outputs_random();
  const auto error = output_error(present.outputs, changed.outputs);
  if (!error) return messages::verify_outputs_unlike();
  return *error > 0 ? messages::verify_outputs_differ(*error) : messages::verify_outputs_equal();
}

/// Of the latest backward pass that both have.
schema::Message losses_message(const StepReport& present, const StepReport& changed) {
  std::int64_t latest = 0;
  for (const auto& [number, loss] : present.losses)
    if (changed.losses.count(number) != 0) latest = std::max<std::int64_t>(latest, std::stoll(number));
  if (latest == 0) return {};
  const auto key = std::to_string(latest);
  return messages::verify_losses(
      {.pass = latest, .present = present.losses.at(key), .changed = changed.losses.at(key)});
}

}  // namespace

RL_DEFINE_JSON(StepBlock, steps, ns)
RL_DEFINE_JSON(StepOutputs, tensors, values)
RL_DEFINE_JSON(ChangeReport, name, count, reason, detail)
RL_DEFINE_JSON(StepReport, steps, blocks, warm_up, trains, is_cut, outputs, losses, change)

std::optional<double> StepReport::median_ns() const {
  std::vector<double> times;
  for (auto i = static_cast<std::size_t>(std::max<std::int64_t>(0, warm_up)); i < blocks.size(); ++i)
    if (blocks[i].steps > 0) times.push_back(static_cast<double>(blocks[i].ns) / static_cast<double>(blocks[i].steps));
  if (times.size() < kLeastBlocks) return std::nullopt;
  return stats::median(std::move(times));
}

schema::Message StepReport::ineffective() const {
  if (!change) return messages::verify_ineffective(Ineffective::unknown);
  if (change->reason.empty() && change->count > 0) return {};
  if (!change->detail.empty()) return messages::verify_refused(change->detail);
  return messages::verify_ineffective(reason_of(change->reason));
}

std::optional<StepReport> read_step_report(const std::filesystem::path& folder) {
  std::optional<StepReport> most;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".json") continue;
    const auto text = base::read_file(entry.path());
    if (!text) continue;
    const auto json = base::parse_json(*text, entry.path().string());
    if (!json) continue;
    auto report = base::json_as<StepReport>(*json, entry.path().string());
    if (report && (!most || report->steps > most->steps)) most = *std::move(report);
  }
  return most;
}

std::vector<schema::Message> compare_results(const StepReport& present, const StepReport& again,
                                             const StepReport& changed) {
  std::vector<schema::Message> out{outputs_message(present, again, changed)};
  if (auto losses = losses_message(present, changed); !losses.empty()) out.push_back(std::move(losses));
  return out;
}

}  // namespace ridgeline::campaign
