// SPDX-License-Identifier: Apache-2.0
#include "run/registry.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace ridgeline::run {

using base::ErrorCode;
using base::Result;

const Kind* Registry::find(std::string_view name) const noexcept {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& kind) { return kind->name() == name; });
  return found == kinds_.end() ? nullptr : found->get();
}

Result<const Kind*> Registry::of(const schema::Run& run) const {
  if (const auto* kind = find(run.kind)) return kind;
  std::vector<std::string_view> known;
  for (const auto& kind : kinds_) known.push_back(kind->name());
  return base::fail(ErrorCode::unsupported, "run {} is of kind \"{}\", expected one of {}", run.id, run.kind,
                    fmt::join(known, ", "))
      .hint("upgrade Ridgeline");
}

Result<RunComparison> Registry::compare(const TrialName& a, const TrialName& b, store::Store& store,
                                        std::optional<double> min_effect) const {
  if (a.run.kind != b.run.kind)
    return base::fail(
               ErrorCode::invalid_argument,
               "run {} is one of ridgeline {}, run {} one of ridgeline {}: a ratio of the two would mean nothing",
               a.run.id, a.run.kind, b.run.id, b.run.kind)
        .hint("compare two runs of the same command");
  RL_TRY_ASSIGN(const auto* kind, of(a.run));
  return kind->compare(a, b, store, min_effect);
}

Result<TrialName> find_trial(store::Store& store, const std::string& reference) {
  const auto slash = reference.find('/');
  TrialName name;
  RL_TRY_ASSIGN(name.run, store.load_run(reference.substr(0, slash)));
  if (slash == std::string::npos) return name;
  if (name.run.trials.empty())
    return base::fail(ErrorCode::not_found, "{}: run {} has no trials", reference, name.run.id)
        .hint("see ridgeline show {}", name.run.id);
  const auto number = base::parse_integer(reference.substr(slash + 1), "trial");
  if (!number || *number < 1 || *number > static_cast<std::int64_t>(name.run.trials.size()))
    return base::fail(ErrorCode::not_found, "{}: run {} has trials 1 to {}; expected RUN/TRIAL", reference, name.run.id,
                      name.run.trials.size())
        .hint("for example {}/1", name.run.id);
  name.trial = static_cast<int>(*number);
  return name;
}

Result<Change> Registry::change(const schema::Run& run, std::string_view text, const Target& target,
                                store::Store& store) const {
  RL_TRY_ASSIGN(const auto* own, of(run));
  if (!own->knows(run, text, target)) {
    for (const auto& kind : kinds_) {
      if (kind.get() == own) continue;
      const auto other = store.load_run("latest:" + std::string(kind->name()));
      if (other && kind->knows(*other, text, target))
        return base::fail(ErrorCode::invalid_argument,
                          "{}: holds settings of ridgeline {}, and run {} is one of ridgeline {}", target.file,
                          kind->name(), run.id, run.kind)
            .hint("the newest of the former is {}: ridgeline apply latest:{} --config {}", other->id, kind->name(),
                  target.file);
    }
  }
  return own->change(run, text, target, store);
}

}  // namespace ridgeline::run
