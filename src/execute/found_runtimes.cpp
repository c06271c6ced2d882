// SPDX-License-Identifier: Apache-2.0
#include "execute/found_runtimes.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "execute/messages.hpp"
#include "execute/provider_choice.hpp"
#include "schema/error_message.hpp"
#include "schema/messages.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using base::Result;

/// A cold CUDA build loads in 5 s; what takes longer hangs.
constexpr double kAskDeadlineS = 30;

std::optional<schema::ProviderPlugin> plugin_of(const schema::RuntimeIdentity& runtime, const std::string& provider) {
  const auto& row = schema::provider_of(provider);
  if (!row.plugin) return std::nullopt;
  for (const auto& library : runtime.plugins)
    for (const auto& offer : library.offers)
      if (&schema::plugin_provider(offer.ep_name) == &row) return offer;
  return std::nullopt;
}

/// Why a GPU's user passes it over.
schema::Message lacking(const schema::RuntimeIdentity& runtime) {
  const auto& wanted = schema::usual_gpu_provider();
  const auto* note = runtime.why_not(wanted);
  return note != nullptr ? note->reason() : messages::built_without(wanted.title);
}

/// No statement about the runtime that was asked.
bool ends_the_run(const base::Error& error) {
  return error.code == ErrorCode::cancelled || error.code == ErrorCode::out_of_time;
}

}  // namespace

std::string plugin_title(const schema::PluginLibrary& plugin) {
  return plugin.package.empty() ? plugin.library_path : plugin.package;
}

Result<FoundRuntimes> FoundRuntimes::find(Executor& executor, std::string kind, schema::RuntimeRequest where,
                                          std::function<TimeLeft()> time_left) {
  if (!time_left) time_left = [] { return TimeLeft{}; };
  RL_TRY_ASSIGN(auto search, find_runtimes(executor, kind, where, time_left()));
  return FoundRuntimes(executor, std::move(kind), std::move(where), std::move(search), std::move(time_left));
}

const Result<schema::RuntimeIdentity>& FoundRuntimes::ask(std::size_t index) {
  auto& identity = answers_[index].identity;
  if (identity) return *identity;
  const auto& found = all()[index];
  const auto problem = schema::error_of(ErrorCode::unavailable, found.problem);
  if (found.problem.empty())
    identity = probe(*executor_, kind_, found.library_path, 0, {{}, kAskDeadlineS, time_left_()});
  else
    identity = tl::unexpected(problem);
  if (!*identity && found.named && !ends_the_run(identity->error()))
    identity = base::fail(ErrorCode::unavailable, "cannot use {}: {}", schema::own_text(found.place),
                          identity->error().message)
                   .hint("{}", problem.hint.empty() ? "name another, or leave it out" : problem.hint);
  return *identity;
}

const Result<schema::RuntimeIdentity>& FoundRuntimes::ask_with_plugins(std::size_t index) {
  const auto& answer = ask(index);
  if (!answer || std::exchange(answers_[index].plugins_asked, true)) return answer;
  for (const auto& plugin : all()[index].plugins) {
    auto asked = plugin;
    const auto found = probe(*executor_, kind_, all()[index].library_path, 0, {{plugin}, kAskDeadlineS, time_left_()});
    if (found && !found->plugins.empty())
      asked = found->plugins.front();
    else if (!found)
      asked.note = schema::ProviderNote::of(found.error());
    (*answers_[index].identity)->plugins.push_back(std::move(asked));
  }
  return answer;
}

schema::Message FoundRuntimes::reason(std::size_t index) const {
  const auto& answer = answers_[index].identity;
  if (!answer || *answer) return {};
  const auto& error = answer->error();
  // A reason of the library's own begins with its path.
  if (error.code == ErrorCode::unavailable) return schema::message_of(error);
  return schema::messages::runtime_failed(
      {.library = all()[index].library_path, .late = error.code == ErrorCode::out_of_time, .error = error.message});
}

Result<std::string> FoundRuntimes::usable_provider(std::size_t index, const std::string& provider,
                                                   const schema::Environment& environment) {
  auto usable = resolve_provider(provider, *ask(index), environment);
  if (usable || all()[index].plugins.empty()) return usable;
  return resolve_provider(provider, *ask_with_plugins(index), environment);
}

Result<void> FoundRuntimes::check_named_plugins(std::size_t index) {
  if (where_.plugins.empty()) return {};
  for (const auto& plugin : ask_with_plugins(index)->plugins) {
    const bool named = std::any_of(where_.plugins.begin(), where_.plugins.end(), [&](const auto& one) {
      return one.library_path == plugin.library_path && one.name == plugin.name;
    });
    if (named && plugin.offers.empty())
      return base::fail(ErrorCode::unavailable, "cannot use --ep-library {}: {}", plugin.library_path,
                        schema::own_text(plugin.note ? plugin.note->reason() : schema::messages::offers_no_device()))
          .hint("{}", plugin.note && !plugin.note->hint.empty() ? schema::own_text(plugin.note->hint)
                                                                : "name another, or leave it out");
  }
  return {};
}

Result<ChosenRuntime> FoundRuntimes::choose(const std::string& provider, const schema::Environment& environment) {
  const bool automatic = provider.empty() || provider == "auto";
  const bool pinned = std::any_of(all().begin(), all().end(), [](const auto& one) { return one.pinned; });
  std::optional<ChosenRuntime> taken;
  std::optional<ChosenRuntime> first;  // the first that loads, with its CPU provider
  std::optional<base::Error> refusal;  // of the first that loads
  std::vector<schema::Message> failed;
  std::vector<schema::Message> passed_over;  // they load, but lack what is wanted
  for (std::size_t i = 0; i < all().size(); ++i) {
    const auto& found = all()[i];
    if ((pinned || taken) && !found.named) continue;
    const auto& identity = ask(i);
    if (!identity) {
      if (found.named || search_.looked_in.empty() || ends_the_run(identity.error()))
        return tl::unexpected<base::Error>(identity.error());
      failed.push_back(reason(i));
      continue;
    }
    if (taken) continue;
    const auto usable = usable_provider(i, provider, environment);
    if (usable && (!automatic || schema::runs_on_gpu(*usable) || environment.gpus.empty())) {
      const auto& runtime = *ask(i);
      taken = ChosenRuntime{runtime, *usable, plugin_of(runtime, *usable), i, {}};
      continue;
    }
    if (usable && !first) first = ChosenRuntime{*identity, *usable, {}, i, {}};
    if (!usable && !refusal) refusal = usable.error();
    passed_over.push_back(usable
                              ? messages::runtime_lacks(
                                    {.runtime = found.name(), .library = found.library_path, .why = lacking(*identity)})
                              : schema::message_of(usable.error()));
  }
  if (!taken) passed_over.clear();
  if (!taken) taken = std::move(first);
  if (!taken && refusal) return tl::unexpected(std::move(*refusal));
  if (!taken) return tl::unexpected(search_.none_usable(failed));

  passed_over.insert(passed_over.begin(), failed.begin(), failed.end());
  if (!passed_over.empty()) taken->notes.push_back(messages::runtimes_passed_over(passed_over));
  if (auto conflict = all()[taken->index].conflict(); !conflict.empty()) taken->notes.push_back(std::move(conflict));
  if (const auto more = others(*taken, environment); provider.empty() && !more.empty())
    taken->notes.push_back(messages::other_candidates(more));
  return std::move(*taken);
}

std::vector<schema::Message> FoundRuntimes::others(const ChosenRuntime& chosen,
                                                   const schema::Environment& environment) const {
  std::vector<schema::Message> found;
  for (const auto& row : schema::execution_providers())
    if (row.id != chosen.provider && row.id != schema::cpu_provider().id && chosen.runtime.offers(row) &&
        chosen.runtime.why_not(row) == nullptr && (!row.on_gpu() || !environment.gpus.empty()))
      found.push_back(messages::same_runtime(row.title));
  for (const auto& plugin : all()[chosen.index].plugins)
    found.push_back(schema::messages::foreign(plugin_title(plugin)));
  for (std::size_t i = 0; i < all().size(); ++i) {
    const auto& answer = answers_[i].identity;
    if (i != chosen.index && all()[i].problem.empty() && (!answer || *answer))
      found.push_back(messages::runtime_at({.runtime = all()[i].name(), .library = all()[i].library_path}));
  }
  return found;
}

}  // namespace ridgeline::execute
