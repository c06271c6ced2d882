// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/output_clash.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace ridgeline::app {
namespace {

namespace fs = std::filesystem;

/// Options whose value is a file that is written anew; --json has one on some commands.
constexpr std::array<std::string_view, 9> kOutputs{"--output", "--report", "--json",      "--perfetto", "--chrome",
                                                   "--video",  "--ready",  "--live-json", "--save-onnx"};

struct Output {
  std::string option;
  std::string path;
};

void collect(const CLI::App& command, std::vector<Output>& out) {
  for (const auto* option : command.get_options()) {
    for (const auto known : kOutputs) {
      if (option->count() == 0 || !option->check_lname(std::string(known.substr(2)))) continue;
      for (const auto& path : option->results())
        // A flag without a file, and standard output.
        if (!path.empty() && path != "-" && path != "true" && path != "false")
          out.push_back({std::string(known), path});
    }
  }
  for (const auto* sub : command.get_subcommands()) collect(*sub, out);
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (fs::equivalent(a, b, ignored)) return true;
  const auto whole = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  };
  return whole(a) == whole(b);
}

/// What of a word may name a file: itself, what follows "=", and FILE of "FILE:NAME".
std::vector<std::string> files_of(const std::string& word) {
  std::vector<std::string> out{word};
  if (const auto equals = word.find('='); equals != std::string::npos) out.push_back(word.substr(equals + 1));
  for (std::size_t i = 0, end = out.size(); i < end; ++i)
    if (const auto colon = out[i].rfind(':'); colon != std::string::npos) out.push_back(out[i].substr(0, colon));
  return out;
}

/// Whether the word is an output's own, alone or behind its option.
bool is_own(const std::string& word, const Output& output) {
  return word == output.path || word == output.option + "=" + output.path;
}

}  // namespace

base::Result<void> check_outputs(const CLI::App& cli, const std::vector<std::string>& words) {
  std::vector<Output> outputs;
  collect(cli, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& output = outputs[i];
    for (std::size_t j = 0; j < i; ++j)
      if (is_same_file(output.path, outputs[j].path))
        return base::fail(base::ErrorCode::invalid_argument, "{} {} and {} {}: two outputs in one file",
                          outputs[j].option, outputs[j].path, output.option, output.path)
            .hint("give each output a file of its own");
    std::error_code ignored;
    if (!fs::is_regular_file(output.path, ignored)) continue;
    bool is_found = false;
    for (std::size_t at = 1; at < words.size(); ++at) {
      if (!is_found && is_own(words[at], output)) {
        is_found = true;
        continue;
      }
      const auto files = files_of(words[at]);
      if (std::none_of(files.begin(), files.end(),
                       [&](const auto& file) { return !file.empty() && is_same_file(file, output.path); }))
        continue;
      return base::fail(base::ErrorCode::invalid_argument, "{} {}: the command names this file as an input, too ({})",
                        output.option, output.path, words[at])
          .hint("write to another file");
    }
  }
  return {};
}

}  // namespace ridgeline::app
