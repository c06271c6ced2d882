// SPDX-License-Identifier: Apache-2.0
#include "execute/runtime_candidates.hpp"

#include <utility>

#include "execute/messages.hpp"
#include "execute/provider_choice.hpp"
#include "schema/error_message.hpp"
#include "schema/messages.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using base::Result;

void add_own_providers(std::size_t index, const schema::RuntimeIdentity& runtime,
                       const schema::Environment& environment, RuntimeCandidates& out) {
  for (const auto& row : schema::execution_providers()) {
    if (row.plugin || !runtime.offers(row) || (row.on_gpu() && environment.gpus.empty())) continue;
    const auto usable = resolve_provider(row.id, runtime, environment);
    if (usable) {
      out.usable.push_back({index, runtime, row.id});
      continue;
    }
    const auto* note = runtime.why_not(row);  // without the places that were looked in, which doctor lists
    out.passed_over.push_back(
        messages::provider_passed_over({.provider = row.title,
                                        .library = runtime.library_path,
                                        .why = note != nullptr ? note->message : schema::message_of(usable.error())}));
  }
}

void add_plugins(std::size_t index, const schema::RuntimeIdentity& runtime, RuntimeCandidates& out) {
  for (const auto& plugin : runtime.plugins) {
    if (plugin.offers.empty())
      out.passed_over.push_back(messages::plugin_passed_over(
          {.plugin = plugin_title(plugin),
           .library = runtime.library_path,
           .why = plugin.note ? plugin.note->message : schema::messages::offers_no_device()}));
    for (const auto& offer : plugin.offers)
      out.usable.push_back({index, runtime, schema::plugin_provider(offer.ep_name).id, offer});
  }
}

}  // namespace

std::string UsableProvider::title(const schema::FoundRuntime& found) const {
  const auto name = schema::provider_of(provider).title;
  return fmt::format("{} of {}", plugin ? fmt::format("{} ({})", name, plugin->device) : name, found.title());
}

Result<RuntimeCandidates> runtime_candidates(FoundRuntimes& runtimes, const schema::Environment& environment) {
  RuntimeCandidates out;
  Result<void> named_plugins;
  bool any_takes_them = false;
  for (std::size_t i = 0; i < runtimes.all().size(); ++i) {
    const auto& answer = runtimes.ask_with_plugins(i);
    if (!answer) {
      const bool late = answer.error().code == ErrorCode::out_of_time;  // no fault of what the user named
      if ((runtimes.all()[i].named && !late) || answer.error().code == ErrorCode::cancelled)
        return tl::unexpected<base::Error>(answer.error());
      out.passed_over.push_back(runtimes.reason(i));
      continue;
    }
    auto checked = runtimes.check_named_plugins(i);
    any_takes_them |= checked.has_value();
    if (!checked) named_plugins = std::move(checked);
    add_own_providers(i, *answer, environment, out);
    add_plugins(i, *answer, out);
  }
  if (!named_plugins && !any_takes_them) return tl::unexpected(std::move(named_plugins).error());
  return out;
}

}  // namespace ridgeline::execute
