// SPDX-License-Identifier: Apache-2.0
#include "report/sections/setting_changes.hpp"

#include "analysis/candidate_table.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/sections.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::report {
namespace {

std::string now_text(const schema::TuneRun& run, const schema::SettingChange& change) {
  return change.from ? value_mark(change.from->to_text()) : setting_text(run, {}, change.key);
}

std::string wanted_text(const TuneView& view, const schema::SettingChange& change) {
  if (!change.to) return view.text(messages::tune_take_out());
  const auto* param = schema::find_param(change.key);
  const bool is_default = param != nullptr && param->default_value == change.to;
  return value_mark(change.to->to_text()) +
         (is_default && !view.run.verdict->configuration.contains(change.key) ? " (default)" : "");
}

}  // namespace

std::string setting_text(const schema::TuneRun& run, const schema::Configuration& configuration,
                         const std::string& key) {
  if (key == schema::kCandidateKey) return value_mark(analysis::candidate_in(run, configuration).name());
  const auto value = schema::effective_value(configuration, key);
  if (!value) return "default";
  return value_mark(value->to_text()) + (configuration.contains(key) ? "" : " (default)");
}

std::vector<ChangedSetting> changed_settings(const TuneView& view) {
  std::vector<ChangedSetting> out;
  for (const auto& change : changes_of(view.run))
    out.push_back({change.key, now_text(view.run, change), wanted_text(view, change)});
  return out;
}

}  // namespace ridgeline::report
