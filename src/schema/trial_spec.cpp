// SPDX-License-Identifier: Apache-2.0
#include "schema/trial_spec.hpp"

#include "base/hash.hpp"

namespace ridgeline::schema {
namespace {

base::Json identity(const TrialSpec& spec) {
  base::Json json = spec;
  json["workload"].erase("location");
  for (auto& file : json["workload"]["input_files"]) file.erase("path");
  json["workload"].erase("dim_names");      // follows from the model
  if (spec.io == "host") json.erase("io");  // the only one there is on the CPU, and older than this field
  if (!spec.alone) json.erase("alone");     // older than this field
  json["runtime"].erase("library_path");
  json["runtime"].erase("loaded_libraries");
  json["runtime"].erase("known_targets");
  json["runtime"].erase("provider_notes");
  json["runtime"].erase("provider_libraries");
  const auto libraries = spec.runtime.provider_libraries.find(spec.provider);
  if (libraries != spec.runtime.provider_libraries.end()) json["runtime"]["provider_libraries"] = libraries->second;
  return json;
}

}  // namespace

std::string TrialSpec::key() const { return base::sha256_hex(base::dump_json(identity(*this))); }

std::string PairedSpec::key() const {
  return base::sha256_hex(base::dump_json({{"base", identity(base)}, {"other", other}, {"plan", plan}}));
}

}  // namespace ridgeline::schema
