// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "report/renderers.hpp"
#include "report/report_model.hpp"
#include "ridgeline/section_text.hpp"
#include "ridgeline/subcommand.hpp"
#include "schema/catalog.hpp"
#include "search/gpu_rules.hpp"

namespace ridgeline::app {
namespace {

struct ParamsFlags {
  std::string key;
  bool json = false;
  bool markdown = false;
  bool keys = false;
};

std::string values_of(const schema::ParamDef& param) {
  std::string text;
  if (param.type == schema::ParamType::integer || param.type == schema::ParamType::number) {
    constexpr int kDigits = 16;  // of a size in bytes, too
    if (param.minimum && param.maximum)
      text = fmt::format("{:.{}g} to {:.{}g}", *param.minimum, kDigits, *param.maximum, kDigits);
    if (!param.unit.empty()) text += " " + param.unit;
    return text;
  }
  if (param.type == schema::ParamType::text) return "text";
  for (const auto& choice : param.choices) text += (text.empty() ? "" : ", ") + choice.to_text();
  return text;
}

std::string default_of(const schema::ParamDef& param) {
  if (!param.default_value) return "set by the runtime";
  return param.default_value->to_text().empty() ? "empty" : param.default_value->to_text();
}

base::Json json_of(const schema::ParamDef& param) {
  return {{"key", param.key},          {"target", param.target},       {"scope", param.scope},
          {"type", param.type},        {"providers", param.providers}, {"values", param.choices},
          {"minimum", param.minimum},  {"maximum", param.maximum},     {"default", param.default_value},
          {"unit", param.unit},        {"since", param.since},         {"before", param.before},
          {"summary", param.summary},  {"when", param.when},           {"hazard", param.hazard},
          {"searched", param.searched}};
}

report::Facts facts_of(const schema::ParamDef& param) {
  report::Facts facts;
  facts.rows = {{"what", param.summary},
                {"type", std::string(base::enum_name(param.type))},
                {"values", values_of(param)},
                {"default", default_of(param)},
                {"matters", param.when}};
  facts.rows.emplace_back("hazard", param.hazard);
  for (const auto& rule : search::gpu_rules_about(param.key)) facts.rows.emplace_back("on a GPU", rule);
  if (!param.since.empty()) facts.rows.emplace_back("since", "ONNX Runtime " + param.since);
  if (!param.before.empty()) facts.rows.emplace_back("gone in", "ONNX Runtime " + param.before);
  std::string providers;
  for (const auto& provider : param.providers) providers += (providers.empty() ? "" : ", ") + provider;
  if (!providers.empty()) facts.rows.emplace_back("providers", providers);
  facts.rows.emplace_back("set as", fmt::format("{} `{}`", base::enum_name(param.scope), param.target));
  if (!param.searched) facts.rows.emplace_back("searched", "only when named by --set or --space");
  return facts;
}

report::ReportModel reference() {
  report::ReportModel model;
  model.title = "Parameters";
  model.subtitle = "Every setting that ridgeline tune knows. Written by `ridgeline params --markdown`.";
  for (const auto& param : schema::catalog()) model.sections.push_back({param.key, param.key, {facts_of(param)}});
  return model;
}

report::Table overview() {
  report::Table table;
  table.columns = {{"Parameter", report::Align::left},
                   {"Values", report::Align::left},
                   {"Default", report::Align::left},
                   {"What it does", report::Align::left}};
  for (const auto& param : schema::catalog())
    table.rows.push_back({{param.key, values_of(param), default_of(param), param.summary}, report::Tone::neutral, ""});
  return table;
}

base::Result<int> params(const ParamsFlags& flags) {
  if (flags.json + flags.markdown + flags.keys > 1)
    return base::fail(base::ErrorCode::invalid_argument, "--json, --markdown and --keys exclude each other")
        .hint("give one form");
  if (!flags.key.empty() && (flags.markdown || flags.keys))
    return base::fail(base::ErrorCode::invalid_argument, "{}: {} lists every parameter", flags.key,
                      flags.markdown ? "--markdown" : "--keys")
        .hint("leave out one of the two, or add --json instead");
  const auto terminal = inspect_terminal(stdout);
  if (flags.json) {
    base::Json out = base::Json::array();
    for (const auto& param : schema::catalog())
      if (flags.key.empty() || param.key == flags.key) {
        out.push_back(json_of(param));
        out.back()["gpu_rules"] = search::gpu_rules_about(param.key);
      }
    if (!flags.key.empty()) RL_TRY(schema::require_param(flags.key));
    fmt::print("{}\n", base::dump_json(out));
  } else if (flags.markdown) {
    fmt::print("{}", report::render_markdown(reference()));
  } else if (flags.keys) {
    for (const auto& param : schema::catalog()) fmt::print("{}\n", param.key);
  } else if (!flags.key.empty()) {
    RL_TRY_ASSIGN(const auto* param, schema::require_param(flags.key));
    fmt::print("{}", section_text({param->key, param->key, {facts_of(*param)}}, terminal));
  } else {
    fmt::print("{}\nridgeline params KEY shows when a parameter matters and what can go wrong.\n",
               report::render_table(overview(), terminal.width, terminal.colour));
  }
  return kOk;
}

}  // namespace

void add_params(CLI::App& app, Context& context) {
  auto flags = std::make_shared<ParamsFlags>();
  auto* command =
      add_subcommand(app, context, "params", "The settings that can be tuned: values, defaults, hazards",
                     "  ridgeline params\n  ridgeline params intra_op_num_threads", [flags] { return params(*flags); });
  command->add_option("KEY", flags->key, "One parameter");
  command->add_flag("--json", flags->json, "As JSON");
  command->add_flag("--markdown", flags->markdown, "As a Markdown page");
  command->add_flag("--keys", flags->keys, "Names only, one a line");
}

}  // namespace ridgeline::app
