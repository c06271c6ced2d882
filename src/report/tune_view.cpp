// SPDX-License-Identifier: Apache-2.0
#include "report/tune_view.hpp"

#include <algorithm>
#include <cctype>

#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/utf8.hpp"
#include "schema/catalog.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::report {
namespace {

std::string value_or_default(const schema::Configuration& configuration, const std::string& key) {
  const auto value = schema::effective_value(configuration, key);
  return value ? value->to_text() : "default";
}

}  // namespace

TuneView::TuneView(const schema::MessageRenderer& the_words, const schema::TuneRun& the_run,
                   const analysis::OutcomesByKey& the_outcomes, const analysis::PairsByKey& the_pairs)
    : words(the_words),
      run(the_run),
      outcomes(the_outcomes),
      pairs(the_pairs),
      ranking(analysis::rank(the_run, the_outcomes)),
      front(analysis::pareto_front(ranking)),
      findings(analysis::find_all(the_run, the_outcomes)) {
  for (const auto& trial : run.trials) trials_by_id_.emplace(trial.id, &trial);
  std::vector<double> costs;
  std::vector<double> medians;
  std::vector<double> rates;
  for (const auto& entry : ranking) {
    ranked_by_id_.emplace(entry.trial->id, &entry);
    costs.push_back(entry.measured.value);
    medians.push_back(entry.summary.median_ns);
    rates.push_back(entry.summary.throughput_per_s);
  }
  objective = objective_scale(run.request.objective, stats::median(costs));
  latency = duration_scale(stats::median(medians));
  rate = rate_scale(stats::median(rates));
  for (const auto& trial : run.trials) {
    const auto better =
        current_ == nullptr || (trial.stage == schema::TrialStage::current && current_->stage != trial.stage);
    if (trial.configuration == run.current && better) current_ = &trial;
  }
  // Without a decision it is the best so far.
  if (run.verdict && run.verdict->decision != schema::Decision::none) recommended_ = trial(run.verdict->trial_id);
  if (on_gpu()) load = analysis::load_curve(run, outcomes, ranking);
}

const schema::GpuDescription* TuneView::gpu() const {
  if (!on_gpu()) return nullptr;
  const auto& gpus = run.environment.gpus;
  const auto at = std::find_if(gpus.begin(), gpus.end(),
                               [&](const auto& gpu) { return !gpu.uuid.empty() && run.device == "gpu:" + gpu.uuid; });
  if (at != gpus.end()) return &*at;
  return gpus.size() == 1 ? &gpus.front() : nullptr;
}

const schema::Measurement* TuneView::measurement(const schema::TunedTrial& trial) const {
  const auto* found = outcome(trial);
  return found != nullptr && found->measurement ? &*found->measurement : nullptr;
}

std::string TuneView::linked(const schema::Message& message) const { return link_trials(*this, text(message)); }

schema::Message TuneView::scenario() const { return messages::scenario(run.tensor_location == "device"); }

const schema::TunedTrial* TuneView::trial(int id) const {
  const auto at = trials_by_id_.find(id);
  return at == trials_by_id_.end() ? nullptr : at->second;
}

const schema::TrialOutcome* TuneView::outcome(const schema::TunedTrial& trial) const {
  const auto at = outcomes.find(trial.key);
  return at == outcomes.end() ? nullptr : &at->second;
}

const analysis::RankedTrial* TuneView::ranked(int id) const {
  const auto at = ranked_by_id_.find(id);
  return at == ranked_by_id_.end() ? nullptr : at->second;
}

bool TuneView::changes() const { return run.verdict && run.verdict->decision == schema::Decision::change; }

std::vector<std::string> TuneView::differences(const schema::Configuration& configuration) const {
  std::vector<std::string> settings;
  const bool same_candidate = schema::candidate_of(configuration) == schema::candidate_of(run.current);
  for (const auto& key : schema::differing_keys(configuration, run.current))
    // What another runtime leaves at its default is no setting that anybody made.
    if (same_candidate || configuration.contains(key))
      settings.push_back(fmt::format("{}={}", key, value_or_default(configuration, key)));
  return settings;
}

std::string TuneView::difference(const schema::Configuration& configuration) const {
  const auto settings = differences(configuration);
  return settings.empty() ? text(messages::current_configuration())
                          : one_line(fmt::format("{}", fmt::join(settings, " ")));
}

std::string TuneView::difference_marked(const schema::Configuration& configuration) const {
  std::string out;
  for (const auto& setting : differences(configuration)) out += (out.empty() ? "" : " ") + code_mark(setting);
  return out.empty() ? text(messages::current_configuration()) : out;
}

std::string TuneView::ending(const schema::TunedTrial& trial) const {
  const auto* found = outcome(trial);
  if (found == nullptr) return "not finished";
  if (found->status == schema::TrialStatus::ok && found->measurement &&
      found->measurement->stop_reason == schema::StopReason::stopped_early)
    return "stopped early";
  return status_text(found->status);
}

TuneView::Endings TuneView::endings() const {
  Endings out;
  for (const auto& trial : run.trials) {
    const auto* found = outcome(trial);
    if (found == nullptr)
      ++out.unfinished;
    else if (found->status != schema::TrialStatus::ok)
      ++out.unsuccessful;
    else if (ending(trial) == "stopped early")
      ++out.stopped_early;
    else
      ++out.completed;
  }
  return out;
}

std::vector<schema::SettingChange> changes_of(const schema::TuneRun& run) {
  if (!run.verdict || run.verdict->decision != schema::Decision::change) return {};
  if (run.verdict->changes) return *run.verdict->changes;
  std::vector<schema::SettingChange> changes;
  for (const auto& key : schema::differing_keys(run.current, run.verdict->configuration)) {
    if (key == schema::kCandidateKey) continue;
    const auto* now = run.current.find(key);
    changes.push_back({key, now != nullptr ? std::optional(*now) : std::nullopt,
                       schema::effective_value(run.verdict->configuration, key)});
  }
  return changes;
}

std::string status_text(schema::TrialStatus status) {
  switch (status) {
    case schema::TrialStatus::rejected_accuracy: return "rejected: accuracy";
    case schema::TrialStatus::out_of_memory: return "out of memory";
    default: return std::string(base::enum_name(status));
  }
}

std::string link_trials(const TuneView& view, std::string_view text) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::string out;
  bool in_list = false;  // between "trial " and the end of the numbers that belong to it
  bool many = false;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto rest = text.substr(at);
    const auto named = rest.substr(1, 5) == "rial " || rest.substr(1, 6) == "rials ";
    const auto word = named && (rest[0] == 't' || rest[0] == 'T') ? (rest[5] == 's' ? 7U : 6U) : 0U;
    if (word != 0 && (at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1])))) {
      out += rest.substr(0, word);
      at += word;
      in_list = true;
      many = word == 7;
      continue;
    }
    if (in_list && digit(text[at])) {
      auto end = at;
      while (end < text.size() && digit(text[end]) && end - at < 9) ++end;
      const auto whole = end == text.size() || (!digit(text[end]) && text[end] != '.' && text[end] != '%') ||
                         (text[end] == '.' && (end + 1 == text.size() || !digit(text[end + 1])));
      const auto is_count = text.substr(end, 5) == " more";
      const auto id = std::stoi(std::string(text.substr(at, end - at)));
      out += whole && !is_count && view.trial(id) != nullptr ? trial_link(id) : std::string(text.substr(at, end - at));
      at = end;
      in_list = many;
      continue;
    }
    if (in_list) {
      const auto glue = rest.substr(0, 2) == ", " ? 2U : rest.substr(0, 5) == " and " ? 5U : 0U;
      if (glue != 0 && at + glue < text.size() && digit(text[at + glue])) {
        out += rest.substr(0, glue);
        at += glue;
        continue;
      }
      in_list = false;
    }
    out += text[at++];
  }
  return out;
}

}  // namespace ridgeline::report
