// SPDX-License-Identifier: Apache-2.0
#include "schema/trial_spec.hpp"

#include <fmt/ranges.h>
#include <algorithm>

#include "base/hash.hpp"
#include "schema/error_message.hpp"
#include "schema/former_keys.hpp"
#include "schema/messages.hpp"

namespace ridgeline::schema {
namespace {

// Keys of stored trials are made of this text, so it keeps the names that members had when it was first written.
template <typename T>
base::Json with_former_keys(const T& value) {
  base::Json json = value;
  for (const auto& former : base::kFormerKeys<T>) {
    const auto found = json.find(former.member);
    json[former.key] = std::move(*found);
    json.erase(found);
  }
  return json;
}

base::Json identity(const TrialSpec& spec) {
  auto json = with_former_keys(spec);
  json["workload"].erase("location");
  for (auto& file : json["workload"]["input_files"]) file.erase("path");
  json["workload"].erase("dim_names");     // follows from the model
  json["workload"].erase("given_values");  // they are among input_values
  auto& sets = json["workload"]["input_values"];
  for (auto& set : sets)
    for (auto& values : set) values.erase("reason");
  if (spec.workload.input_values.empty()) json["workload"].erase("input_values");  // older than this field
  if (spec.tensor_location == "host") json.erase("io");  // the only one there is on the CPU, and older than this field
  if (!spec.isolated) json.erase("alone");               // older than this field
  if (spec.calls_per_wait == 1) json.erase("calls_per_wait");
  if (spec.plugin)
    json["plugin"].erase("library_path");
  else
    json.erase("plugin");
  json["runtime"].erase("library_path");
  json["runtime"].erase("loaded_libraries");
  json["runtime"].erase("provider_notes");
  json["runtime"].erase("plugins");
  json["runtime"].erase("provider_libraries");
  const auto libraries = spec.runtime.provider_libraries.find(spec.provider);
  if (libraries != spec.runtime.provider_libraries.end()) json["runtime"]["provider_libraries"] = libraries->second;
  return json;
}

}  // namespace

bool RuntimeIdentity::offers(const ExecutionProvider& provider) const {
  if (provider.plugin)
    return std::any_of(plugins.begin(), plugins.end(), [&](const auto& library) {
      return std::any_of(library.offers.begin(), library.offers.end(),
                         [&](const auto& offer) { return &plugin_provider(offer.ep_name) == &provider; });
    });
  return std::find(providers.begin(), providers.end(), provider.library_name) != providers.end();
}

const ProviderNote* RuntimeIdentity::why_not(const ExecutionProvider& provider) const {
  const auto note = provider_notes.find(provider.id);
  return note == provider_notes.end() ? nullptr : &note->second;
}

std::string TrialSpec::key() const { return base::sha256_hex(base::dump_json(identity(*this))); }

std::string PairedSpec::key() const {
  base::Json json{{"base", identity(base)}, {"other", other}, {"plan", with_former_keys(plan)}};
  if (across) json["across"] = identity(*across);
  return base::sha256_hex(base::dump_json(json));
}

ProviderNote ProviderNote::of(const base::Error& error) {
  return {message_of({error.code, error.message, {}}),
          {},
          error.hint.empty() ? Message() : messages::foreign(error.hint),
          {}};
}

Message ProviderNote::reason() const {
  messages::ProviderNote out{.what = message, .looked_in = looked_in, .missing = missing};
  if (!missing.empty()) out.missing.erase(out.missing.begin());
  return out.looked_in.empty() && out.missing.empty() ? message : messages::provider_note(out);
}

void to_json(base::Json& out, const ProviderNote& note) {
  if (note.looked_in.empty() && note.hint.empty() && note.missing.empty())
    out = note.message;
  else
    out = {{"message", note.message}, {"looked_in", note.looked_in}, {"hint", note.hint}, {"missing", note.missing}};
}

void from_json(const base::Json& in, ProviderNote& note) {
  note = {};
  if (in.is_string() || in.contains("code")) {
    in.get_to(note.message);
    return;
  }
  note.message = in.value("message", Message());
  note.looked_in = in.value("looked_in", Message());
  note.hint = in.value("hint", Message());
  note.missing = in.value("missing", std::vector<std::string>{});
}

RL_DEFINE_JSON(RuntimeIdentity, name, version, library_path, library_sha256, providers, loaded_libraries,
               provider_libraries, provider_notes, plugins)
RL_DEFINE_JSON(PluginLibrary, library_path, name, package, offers, note)
RL_DEFINE_JSON(ProviderPlugin, library_path, library_sha256, ep_name, version, device)
RL_DEFINE_JSON(MeasurementPlan, warmup_runs, warmup_max_s, runs, min_runs, max_runs, min_time_s, max_time_s,
               target_interval_ratio)
RL_DEFINE_JSON(TrialSpec, workload, provider, device, runtime, configuration, plan, tensor_location, isolated, plugin,
               calls_per_wait)
RL_DEFINE_JSON(PairedPlan, rounds, max_rounds, abba_rounds, max_abba_rounds, target_half_width, block_time_s,
               min_block_runs, settle_s, discard_runs, discard_time_s, min_time_s, max_time_s, min_samples,
               min_samples_time_s, warmup)
RL_DEFINE_JSON(PairedSpec, base, other, across, plan)

}  // namespace ridgeline::schema
