// SPDX-License-Identifier: Apache-2.0
#include "store/old_request.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace ridgeline::store {
namespace {

using Words = std::vector<std::string>;

/// The words that schema::shell_line made the line of.
Words shell_words(std::string_view line) {
  Words words;
  bool quoted = false;
  bool within = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ' && !quoted) {
      within = false;
      continue;
    }
    if (!std::exchange(within, true)) words.emplace_back();
    if (line[i] == '\'')
      quoted = !quoted;
    else if (line[i] == '\\' && !quoted && i + 1 < line.size())
      words.back() += line[++i];
    else
      words.back() += line[i];
  }
  return words;
}

/// The program's own words, without a sweep's command.
class Flags {
 public:
  explicit Flags(const Words& words) : words_(words.begin(), std::find(words.begin(), words.end(), "--")) {}
  [[nodiscard]] bool has(std::string_view flag) const {
    return std::find(words_.begin(), words_.end(), flag) != words_.end();
  }
  /// "": not given.
  [[nodiscard]] std::string value(std::string_view flag) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::string_view word = words_[i];
      if (word == flag) return i + 1 < words_.size() ? words_[i + 1] : "";
      if (word.size() > flag.size() && word.substr(0, flag.size()) == flag && word[flag.size()] == '=')
        return std::string(word.substr(flag.size() + 1));
    }
    return "";
  }

 private:
  Words words_;
};

template <typename Run>
Flags read_common(const Run& run, const base::Json& old, schema::RunRequest& request) {
  request.arguments = shell_words(run.command_line);
  const Flags flags(request.arguments);
  const auto path = old.find("config_path");
  request.config_path = path != old.end() && path->is_string() ? path->get<std::string>() : flags.value("--config");
  if (auto output = flags.value("--output"); !output.empty()) request.outputs = {std::move(output)};
  request.devices = flags.value("--devices");
  request.watch = request.arguments.size() > 1 && request.arguments[1] == "watch";
  request.use_store = !flags.has("--fresh");
  if (const auto limit = base::parse_duration(flags.value("--max-time"), "--max-time")) request.max_time = *limit;
  return flags;
}

/// A request of what it and an old record have by the same names.
template <typename Request>
base::Result<Request> request_in(const base::Json& old, const std::vector<std::string>& keys) {
  auto known = base::Json::object();
  for (const auto& key : keys)
    if (const auto found = old.find(key); found != old.end()) known[key] = *found;
  return base::json_as<Request>(known, "run");
}

}  // namespace

base::Result<schema::TuneRequest> old_request(const schema::TuneRun& run, const base::Json& old) {
  RL_TRY_ASSIGN(auto request, request_in<schema::TuneRequest>(
                                  old, {"search", "objective", "constraints", "plan", "min_effect", "seed"}));
  const auto flags = read_common(run, old, request);
  request.workload = run.workload;
  request.provider = run.provider;
  request.tensor_location = run.tensor_location;
  request.ort_library = flags.value("--ort-library");
  request.space.file = flags.value("--space");
  request.paired.warmup = request.plan;
  const auto tolerance = flags.value("--accuracy-tolerance");
  request.check_accuracy = tolerance != "off";
  if (const auto number = base::parse_number(tolerance, "--accuracy-tolerance")) request.accuracy_tolerance = *number;
  return request;
}

base::Result<schema::BenchRequest> old_request(const schema::BenchRun& run, const base::Json& old) {
  RL_TRY_ASSIGN(auto request, request_in<schema::BenchRequest>(old, {"job", "search", "space", "plan"}));
  const auto flags = read_common(run, old, request);
  request.devices = flags.value("--device");
  if (run.answers) {
    request.tolerance = run.answers->tolerance;
    request.headroom = run.answers->headroom;
    request.stability_steps = run.answers->stability_steps;
  }
  request.diagnose = !flags.has("--no-diagnosis");
  return request;
}

base::Result<schema::SweepRequest> old_request(const schema::SweepRun& run, const base::Json& old) {
  RL_TRY_ASSIGN(auto request, request_in<schema::SweepRequest>(
                                  old, {"job", "objective", "search", "repeats", "min_effect", "tolerance"}));
  const auto flags = read_common(run, old, request);
  request.keep_going = flags.has("--keep-going");
  return request;
}

}  // namespace ridgeline::store
