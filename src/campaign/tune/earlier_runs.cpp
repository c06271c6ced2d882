// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/earlier_runs.hpp"

namespace ridgeline::campaign {
namespace {

constexpr std::size_t kListed = 100;  // the newest runs of all models
constexpr std::size_t kRead = 10;     // of this one

}  // namespace

bool EarlierRuns::read_next() {
  if (!ids_) {
    ids_.emplace();
    const auto runs = store_.list_runs(kListed, schema::TuneRun::kLayout.kind);
    if (runs)
      for (const auto& one : *runs)
        if (one.id != run_.id && one.line.device == run_.device && one.line.subject == schema::model_name(run_) &&
            ids_->size() < kRead)
          ids_->insert(ids_->begin(), one.id);
  }
  if (ids_->empty()) return false;
  const auto other = store_.load<schema::TuneRun>(ids_->back());
  ids_->pop_back();
  if (!other) return true;
  for (const auto& trial : other->trials) known_.emplace(trial.key, trial.corrected);
  return true;
}

std::optional<schema::CorrectedCost> EarlierRuns::corrected(const std::string& key) {
  for (;;) {
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    if (!read_next()) return std::nullopt;
  }
}

}  // namespace ridgeline::campaign
