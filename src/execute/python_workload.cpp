// SPDX-License-Identifier: Apache-2.0
#include "execute/python_workload.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include <fmt/ranges.h>

#include "base/file.hpp"
#include "execute/python_flags.hpp"
#include "host/this_process.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;

constexpr double kPrepareLimitS = 900;  ///< max-autotune of a large model takes ten minutes
constexpr double kCallLimitS = 600;
constexpr double kProofLimitS = 120;

/// The tensors of one call, cut from the file that holds them one after another.
Result<workload::OutputSet> tensors_of(const Json& answer, std::string_view bytes) {
  workload::OutputSet out;
  const auto sets = answer.value("sets", Json::array());
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (const auto& entry : sets[set]) {
      workload::NamedTensor tensor;
      tensor.name = sets.size() > 1 ? fmt::format("{} of input set {}", entry.value("name", ""), set + 1)
                                    : entry.value("name", "");
      tensor.element_type = entry.value("element_type", "");
      tensor.dims = entry.value("dims", std::vector<std::int64_t>());
      const auto size = entry.value("bytes", std::size_t{0});
      if (size > bytes.size())
        return base::fail(ErrorCode::corrupt, "output {} has {} bytes, {} are there", tensor.name, size, bytes.size());
      tensor.bytes = bytes.substr(0, size);
      bytes.remove_prefix(size);
      out.push_back(std::move(tensor));
    }
  }
  return out;
}

}  // namespace

PythonWorkload::PythonWorkload(JsonChildOptions child, schema::TrialSpec spec)
    : spec_(std::move(spec)), child_(std::move(child)) {}

Result<Json> PythonWorkload::ask(const Json& request, double limit_s) {
  auto answer = child_.ask(request, limit_s);
  if (!answer) return tl::unexpected<base::Error>(std::move(answer).error().error);
  return std::move(*answer);
}

Result<void> PythonWorkload::prepare() {
  Json settings = Json::object();
  for (const auto& [key, value] : spec_.configuration.values()) {
    RL_TRY_ASSIGN(const auto* param, schema::require_param(key));
    if (param->scope != schema::ParamScope::torch_option)
      return base::fail(ErrorCode::invalid_argument, "{}={}: a PyTorch model has no such setting", key, value.to_text())
          .hint("leave it out");
    if (value != param->default_value) settings[key] = value;
  }
  phase_ = schema::TrialPhase::create_session;
  RL_TRY_ASSIGN(const auto made, ask({{"op", "prepare"},
                                      {"target", spec_.workload.location},
                                      {"settings", std::move(settings)},
                                      {"io", spec_.tensor_location},
                                      {"seed", spec_.workload.seed}},
                                     kPrepareLimitS));
  process_ = made.value("pid", child_.pid());
  create_time_ = base::from_seconds(made.value("make_s", 0.0) + made.value("compile_s", 0.0));
  if (const double compile_s = made.value("compile_s", 0.0); compile_s > 0) metrics_["compile_s"] = compile_s;
  flags_ = prepared_flags(made);
  return check_proof();
}

Result<void> PythonWorkload::check_proof() {
  RL_TRY_ASSIGN(const auto proof, ask({{"op", "proof"}}, kProofLimitS));
  effective_.clear();
  const auto settings = proof.value("settings", Json::object());
  for (const auto& [key, value] : settings.items())
    effective_[key] = value.is_string() ? value.get<std::string>() : value.dump();
  seen_ = proof_flags(proof);
  if (const auto problems = proof.value("problems", std::vector<std::string>()); !problems.empty())
    return base::fail(ErrorCode::unsupported, "it did not run as its settings say: {}", fmt::join(problems, "; "));
  return {};
}

std::vector<schema::QualityFlag> PythonWorkload::flags() const {
  auto all = flags_;
  all.insert(all.end(), seen_.begin(), seen_.end());
  return all;
}

bool PythonWorkload::step(int /*caller*/) noexcept {
  try {
    static const Json request{{"op", "call"}, {"count", 1}};
    const auto begun = base::system_clock().now();
    const auto answer = ask(request, kCallLimitS);
    if (!answer) {
      error_ = answer.error();
      return false;
    }
    const auto inside = answer->at("ns").at(0).get<std::int64_t>();
    clock_.hide(base::system_clock().now() - begun, base::Nanoseconds(inside));
    return true;
  } catch (const std::exception& error) {
    error_ = {ErrorCode::internal, fmt::format("the call's answer: {}", error.what()), ""};
    return false;
  }
}

std::int64_t PythonWorkload::outside_peak_rss_bytes() const {
  return child_.is_running() ? host::peak_rss_bytes(process_).value_or(0) : 0;
}

Result<workload::OutputSet> PythonWorkload::outputs() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ridgeline-outputs-XXXXXX").string();
  const int file = ::mkstemp(pattern.data());
  if (file < 0) return base::fail(ErrorCode::io, "cannot make a temporary file {}", pattern);
  ::close(file);
  auto answer = ask({{"op", "outputs"}, {"path", pattern}}, kCallLimitS);
  auto bytes = base::read_file(pattern);
  std::error_code ignored;
  std::filesystem::remove(pattern, ignored);
  RL_TRY_ASSIGN(const auto described, std::move(answer));
  RL_TRY_ASSIGN(const auto content, std::move(bytes));
  RL_TRY(check_proof());  // what was compiled may have been given up since
  return tensors_of(described, content);
}

}  // namespace ridgeline::execute
