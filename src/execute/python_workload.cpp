// SPDX-License-Identifier: Apache-2.0
#include "execute/python_workload.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/ranges.h>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "execute/fork_server_client.hpp"
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

Result<Json> prepare_request(const schema::TrialSpec& spec) {
  Json settings = Json::object();
  for (const auto& [key, value] : spec.configuration.values()) {
    RL_TRY_ASSIGN(const auto* param, schema::require_param(key));
    if (param->scope != schema::ParamScope::torch_option && !param->any_engine)
      return base::fail(ErrorCode::invalid_argument, "{}={}: a PyTorch model has no such setting", key, value.to_text())
          .hint("leave it out");
    if (value != param->default_value) settings[key] = value;
  }
  // What was chosen for compiled models says nothing of others.
  if (!settings.contains("torch_compile"))
    for (const auto* key : {"compile_dynamic", "compile_freezing", "compile_fullgraph"}) settings.erase(key);
  return Json{{"op", "prepare"},
              {"target", spec.workload.location},
              {"settings", std::move(settings)},
              {"io", spec.tensor_location},
              {"seed", spec.workload.seed}};
}

std::string ahead_key(const Json& prepare_request) { return base::sha256_hex(base::dump_json(prepare_request)); }

namespace {

JsonChildOptions with_key(JsonChildOptions child, const schema::TrialSpec& spec) {
  if (const auto request = prepare_request(spec))
    child.environment.emplace_back(kAheadKeyVariable, ahead_key(*request));
  return child;
}

}  // namespace

PythonWorkload::PythonWorkload(JsonChildOptions child, schema::TrialSpec spec)
    : spec_(std::move(spec)), child_(with_key(std::move(child), spec_)) {}

PythonWorkload::~PythonWorkload() {
  if (kept_) child_.close();
}

Result<Json> PythonWorkload::ask(const Json& request, double limit_s) {
  auto answer = child_.ask(request, limit_s);
  if (!answer) return tl::unexpected<base::Error>(std::move(answer).error().error);
  return std::move(*answer);
}

Result<void> PythonWorkload::prepare() {
  RL_TRY_ASSIGN(const auto request, prepare_request(spec_));
  phase_ = schema::TrialPhase::create_session;
  RL_TRY_ASSIGN(const auto made, ask(request, kPrepareLimitS));
  items_ = made.value("items", 1.0);
  if (const auto* batch = spec_.configuration.find("batch_size")) rows_ = batch->as_integer();
  process_ = made.value("pid", child_.pid());
  kept_ = made.value("kept", false);
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
  // Also where no setting chose it: cuDNN's is on unless the user switches it off.
  if (const auto tf32 = proof.find("tf32"); tf32 != proof.end() && tf32->is_boolean())
    effective_.try_emplace("allow_tf32", tf32->dump());
  seen_ = proof_flags(proof);
  if (const auto problems = proof.value("problems", std::vector<std::string>()); !problems.empty())
    return base::fail(ErrorCode::unsupported, "it did not run as its settings say: {}", fmt::join(problems, "; "));
  return {};
}

Result<void> PythonWorkload::make_calls() {
  const bool one_wait = spec_.calls_per_wait > 1;
  // Asking takes as long as a call of a small model, many times as long on a busy machine.
  constexpr double kTogetherNs = 4e6;
  constexpr double kOneWaitNs = 20e6;  // a block of a comparison
  constexpr std::int64_t kMostTogether = 64;
  const double most_ns = one_wait ? kOneWaitNs : kTogetherNs;
  const double usual_ns = made_.empty() ? most_ns : static_cast<double>(std::max<std::int64_t>(1, made_.back()));
  const auto count = std::clamp<std::int64_t>(static_cast<std::int64_t>(most_ns / usual_ns), 1,
                                              one_wait ? spec_.calls_per_wait : kMostTogether);
  Json request{{"op", "call"}, {"count", count}};
  if (one_wait) request["one_wait"] = true;
  const auto begun = base::system_clock().now();
  RL_TRY_ASSIGN(const auto answer, ask(request, kCallLimitS));
  made_ = answer.at("ns").get<std::vector<std::int64_t>>();
  if (made_.empty()) return base::fail(ErrorCode::internal, "{} calls were answered with none", count);
  clock_.hide(base::system_clock().now() - begun, base::Nanoseconds(0));
  told_ = 0;
  return {};
}

std::vector<schema::QualityFlag> PythonWorkload::flags() const {
  auto all = flags_;
  all.insert(all.end(), seen_.begin(), seen_.end());
  return all;
}

bool PythonWorkload::step(int /*caller*/) noexcept {
  constexpr base::Nanoseconds kPause{2'000'000};  // calls from before it are not those after it
  try {
    if (told_ >= made_.size() || base::system_clock().now() - last_step_ > kPause) {
      if (const auto done = make_calls(); !done) {
        error_ = done.error();
        return false;
      }
    }
    clock_.count(base::Nanoseconds(made_[told_++]));
    last_step_ = base::system_clock().now();
    return true;
  } catch (const std::exception& error) {
    error_ = {ErrorCode::internal, fmt::format("the call's answer: {}", error.what()), ""};
    return false;
  }
}

std::int64_t PythonWorkload::outside_peak_rss_bytes() const {
  return child_.is_running() ? host::peak_rss_bytes(process_).value_or(0) : 0;
}

Result<void> PythonWorkload::run_once() {
  RL_TRY(ask({{"op", "call"}, {"count", 1}}, kCallLimitS));
  return {};
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
  metric_.reset();
  if (const auto metric = described.find("metric"); metric != described.end() && metric->is_number())
    metric_ = metric->get<double>();
  if (described.value("metric_not_finite", false)) metric_ = std::numeric_limits<double>::quiet_NaN();
  return tensors_of(described, content);
}

}  // namespace ridgeline::execute
