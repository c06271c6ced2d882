// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/provider_properties.hpp"

#include "base/json.hpp"

namespace ridgeline::workload {
namespace {

base::Result<base::Json> object_of(const std::string& option, const std::string& text) {
  auto json = base::parse_json(text, option);
  if (json && json->is_object()) return json;
  return base::fail(base::ErrorCode::invalid_argument, "{}={}: is no JSON object{}", option, text,
                    json ? "" : ": " + json.error().message)
      .hint("write it like {{\"CPU\":{{\"NUM_STREAMS\":\"1\"}}}}");
}

}  // namespace

base::Result<ProviderOptions> fold_properties(const ProviderOptions& options, const std::string& device) {
  ProviderOptions folded;
  std::map<std::string, base::Json> texts;
  for (const auto& [name, value] : options)
    if (const auto dot = name.find('.'); dot != std::string::npos)
      texts.emplace(name.substr(0, dot), base::Json::object());
  for (const auto& [name, value] : options) {
    const auto text = texts.find(name);
    if (text != texts.end()) {
      RL_TRY_ASSIGN(text->second, object_of(name, value));
    } else if (name.find('.') == std::string::npos) {
      folded.emplace_back(name, value);
    }
  }
  for (const auto& [name, value] : options) {
    const auto dot = name.find('.');
    if (dot == std::string::npos) continue;
    auto& properties = texts[name.substr(0, dot)][device];
    if (!properties.is_object()) properties = base::Json::object();
    properties[name.substr(dot + 1)] = value;
  }
  for (const auto& [name, json] : texts) folded.emplace_back(name, base::dump_json(json));
  return folded;
}

std::string property_device(const ProviderOptions& options) {
  for (const auto& [name, value] : options)
    if (name == "device_type" && !value.empty()) return value.substr(0, value.find_first_of(":."));
  return "CPU";
}

void unfold_properties(std::map<std::string, std::string>& options, const std::string& device) {
  std::map<std::string, std::string> found;
  for (const auto& [name, text] : options) {
    if (text.empty() || text.front() != '{') continue;
    const auto json = base::parse_json(text, name);
    if (!json || !json->contains(device) || !json->at(device).is_object()) continue;
    for (const auto& [property, value] : json->at(device).items())
      found[name + "." + property] = value.is_string() ? value.get<std::string>() : base::dump_json(value);
  }
  options.merge(found);
}

}  // namespace ridgeline::workload
