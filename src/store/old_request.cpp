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

}  // namespace

schema::TuneRequest old_request(const schema::TuneRun& run, const base::Json& old) {
  schema::TuneRequest request;
  const auto flags = read_common(run, old, request);
  request.workload = run.workload;
  request.provider = run.provider;
  request.tensor_location = run.tensor_location;
  request.ort_library = flags.value("--ort-library");
  request.search = run.search;
  request.objective = run.objective;
  request.constraints = run.constraints;
  request.space.file = flags.value("--space");
  request.plan = run.plan;
  request.paired.warmup = run.plan;
  request.min_effect = run.min_effect;
  const auto tolerance = flags.value("--accuracy-tolerance");
  request.check_accuracy = tolerance != "off";
  if (const auto number = base::parse_number(tolerance, "--accuracy-tolerance")) request.accuracy_tolerance = *number;
  request.seed = run.seed;
  return request;
}

schema::BenchRequest old_request(const schema::BenchRun& run, const base::Json& old) {
  schema::BenchRequest request;
  const auto flags = read_common(run, old, request);
  request.devices = flags.value("--device");
  request.job = run.job;
  request.search = run.search;
  request.space = run.space;
  request.plan = run.plan;
  if (run.answers) {
    request.tolerance = run.answers->tolerance;
    request.headroom = run.answers->headroom;
    request.stability_steps = run.answers->stability_steps;
  }
  request.diagnose = !flags.has("--no-diagnosis");
  return request;
}

schema::SweepRequest old_request(const schema::SweepRun& run, const base::Json& old) {
  schema::SweepRequest request;
  const auto flags = read_common(run, old, request);
  request.job = run.job;
  request.objective = run.objective;
  request.search = run.search;
  request.repeats = run.repeats;
  request.min_effect = run.min_effect;
  request.tolerance = run.tolerance;
  request.keep_going = flags.has("--keep-going");
  return request;
}

}  // namespace ridgeline::store
