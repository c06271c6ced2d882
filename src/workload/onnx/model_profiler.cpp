// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/model_profiler.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <limits>
#include <vector>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "host/heap.hpp"
#include "host/memory_speed.hpp"
#include "host/repeated_peak.hpp"
#include "host/this_process.hpp"
#include "workload/messages.hpp"
#include "workload/onnx/flop_count.hpp"
#include "workload/onnx/free_dimensions.hpp"
#include "workload/onnx/graph_shapes.hpp"
#include "workload/onnx/model_file.hpp"
#include "workload/onnx/node_sources.hpp"
#include "workload/onnx/ort_caller.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/ort_providers.hpp"
#include "workload/onnx/probe_models.hpp"
#include "workload/onnx/recorder.hpp"
#include "workload/onnx/refused_inputs.hpp"
#include "workload/onnx/workload_inputs.hpp"

namespace ridgeline::workload {
namespace {

using base::Result;

constexpr std::int64_t kProductSize = 1024;  // 2.1 GFLOP: milliseconds, and more than any cache holds of both factors
constexpr double kProductTimeS = 0.13;       // of one turn
constexpr int kMostTurns = 10;
constexpr auto kSettle = std::chrono::milliseconds(60);
constexpr auto kBlock = std::chrono::milliseconds(30);
constexpr std::int64_t kLeastOfBlock = 3;
constexpr std::size_t kLeastRounds = 2;        // one tells what the profiler takes, the other how long calls last
constexpr std::int64_t kMostEvents = 600'000;  // the profiler keeps 1,000,000, and has up to one beside each node's
constexpr std::size_t kEventBytes = 2048;      // that it keeps of an event

double ns_of(base::Nanoseconds duration) { return static_cast<double>(duration.count()); }

/// A session with inputs, traced or not.
class ProfiledSession {
 public:
  static Result<std::unique_ptr<ProfiledSession>> make(const OrtEnvironment& environment, const schema::TrialSpec& spec,
                                                       SessionExtras extras) {
    const auto batch = spec.configuration.get_or("batch_size", 0).as_integer(0);
    if (spec.configuration.get_or("override_free_dimensions", false).as_bool())
      extras.free_dimensions = free_dimensions(spec.workload, batch);
    RL_TRY_ASSIGN(auto settings, SessionSettings::make(environment, spec.configuration, spec.provider, extras));
    RL_TRY_ASSIGN(auto caller, OrtCaller::create(environment, spec.workload.location, settings));
    if (!extras.free_dimensions.empty()) restore_free_dimensions(caller->inputs(), spec.workload);
    RL_TRY_ASSIGN(const auto inputs, make_workload_inputs(caller->inputs(), spec.workload, batch));
    for (const auto& member : inputs.members)
      RL_TRY(caller->add_shape_set(member, settings, SessionSettings::kOwnGraph));
    std::unique_ptr<ProfiledSession> session(new ProfiledSession(std::move(settings), std::move(caller)));
    if (auto first = session->run(); !first)
      return tl::unexpected<base::Error>(name_refused_inputs(
          std::move(first).error(), spec.workload, session->caller_->inputs(), session->caller_->last_member()));
    return session;
  }

  /// Nanoseconds of one inference.
  Result<double> run() {
    const auto begin = base::system_clock().now();
    const bool done = caller_->step();
    const auto took = ns_of(base::system_clock().now() - begin);
    if (!done) return tl::unexpected<base::Error>(caller_->last_error());
    return took;
  }
  [[nodiscard]] Result<std::string> end_profile() const { return caller_->end_profile(); }
  [[nodiscard]] Result<std::int64_t> profile_start_ns() const { return caller_->profile_start_ns(); }

 private:
  ProfiledSession(SessionSettings settings, std::unique_ptr<OrtCaller> caller)
      : settings_(std::move(settings)), caller_(std::move(caller)) {}
  SessionSettings settings_;  // outlives the session
  std::unique_ptr<OrtCaller> caller_;
};

/// A model of our own in the place of the user's.
Result<schema::TrialSpec> spec_of_probe(schema::TrialSpec spec, const std::string& model, const std::string& path,
                                        schema::ShapeSet shapes) {
  RL_TRY(base::write_file_atomically(path, model));
  spec.workload = {};
  spec.workload.kind = "onnx";
  spec.workload.location = path;
  spec.workload.shapes = {std::move(shapes)};
  spec.configuration.unset("batch_size");
  spec.configuration.unset("override_free_dimensions");
  return spec;
}

/// FLOP/s of a large product of matrices, the fastest of a few.
Result<double> product_speed(ProfiledSession& session) {
  double least = 0;
  const auto begin = base::system_clock().now();
  do {
    RL_TRY_ASSIGN(const auto took, session.run());
    least = least <= 0 ? took : std::min(least, took);
  } while (base::to_seconds(base::system_clock().now() - begin) < kProductTimeS);
  const auto size = static_cast<double>(kProductSize);
  return least > 0 ? 2 * size * size * size / least * 1e9 : 0;
}

/// What memory and a product with the same settings reach: ceilings, measured in turns until both repeat. Where one of
/// them does not there is none.
Result<void> measure_reach(const OrtEnvironment& environment, const schema::TrialSpec& spec, const std::string& folder,
                           schema::ProfiledModel& out) {
  RL_TRY_ASSIGN(const auto probe,
                spec_of_probe(spec, product_model(kProductSize), folder + "/product.onnx",
                              {{"a", {kProductSize, kProductSize}}, {"b", {kProductSize, kProductSize}}}));
  RL_TRY_ASSIGN(const auto product, ProfiledSession::make(environment, probe, {}));
  host::MemorySpeed memory(static_cast<int>(spec.configuration.get_or("intra_op_num_threads", 0).as_integer(0)));
  host::RepeatedPeak bytes;
  host::RepeatedPeak flops;
  for (int turn = 0; turn < kMostTurns && !(bytes.repeats() && flops.repeats()); ++turn) {
    if (!bytes.repeats()) bytes.add(memory.measure());
    if (flops.repeats()) continue;
    RL_TRY_ASSIGN(const auto speed, product_speed(*product));
    flops.add(speed);
  }
  if (bytes.repeats() && flops.repeats()) {
    out.bytes_per_s = bytes.value();
    out.flops_per_s = flops.value();
    return {};
  }
  const bool is_memory = !bytes.repeats();
  out.notes.push_back(messages::profile_no_reach(
      {.what = is_memory ? messages::ProfileNoReachWhat::memory : messages::ProfileNoReachWhat::product,
       .times = kMostTurns,
       .rates = (is_memory ? bytes : flops).rates(1e9)}));
  return {};
}

/// Threads of a session spin for a while after a call, and would take a CPU from the other session.
void settle() {
  const auto begin = base::system_clock().now();
  while (host::another_thread_runs() && base::system_clock().now() - begin < kSettle)
    base::system_clock().sleep_for(std::chrono::milliseconds(1));
}

/// Calls until they fill a block.
Result<void> run_block(ProfiledSession& session, std::int64_t most_runs, std::vector<double>& out) {
  settle();
  double spent_ns = 0;
  for (std::int64_t run = 0; run < most_runs && (run < kLeastOfBlock || spent_ns < ns_of(kBlock)); ++run) {
    RL_TRY_ASSIGN(const auto took, session.run());
    out.push_back(took);
    spent_ns += took;
  }
  return {};
}

/// Both sessions warm, then blocks of calls, A B B A, so that a drift of the machine's speed is in both alike.
Result<void> run_interleaved(ProfiledSession& plain, ProfiledSession& traced, const schema::ProfilePlan& plan,
                             std::int64_t nodes, schema::ProfiledModel& out) {
  const auto most_runs = std::clamp<std::int64_t>(kMostEvents / nodes, 1, plan.most_runs);
  const auto begin = base::system_clock().now();
  const auto elapsed = [&] { return base::to_seconds(base::system_clock().now() - begin); };
  double fastest_ns = std::numeric_limits<double>::max();
  do {
    RL_TRY_ASSIGN(const auto took, plain.run());
    fastest_ns = std::min(fastest_ns, took);
    RL_TRY(traced.run());
    ++out.warmups;
  } while (elapsed() < plan.warmup_s && out.warmups < most_runs / 4);
  const double runs = std::min(static_cast<double>(most_runs), plan.time_s * 1e9 / fastest_ns);
  host::keep_heap(static_cast<std::size_t>(runs * static_cast<double>(nodes)) * kEventBytes);
  const auto warm = elapsed();
  std::int64_t made = 0;
  while (out.rounds.size() < kLeastRounds ||
         (made < most_runs && (made < plan.least_runs || elapsed() - warm < plan.time_s))) {
    auto& round = out.rounds.emplace_back();
    for (const bool is_traced : {false, true, true, false})
      RL_TRY(run_block(is_traced ? traced : plain, std::max<std::int64_t>(1, most_runs - made),
                       is_traced ? round.traced_ns : round.plain_ns));
    made += static_cast<std::int64_t>(round.traced_ns.size());
  }
  return {};
}

/// What the runtime's graph tells of its nodes; their number.
std::int64_t read_graph(const schema::WorkloadRef& workload, const std::string& optimized, schema::ProfiledModel& out) {
  const auto from = load_model_file(workload.location);
  auto to = load_model_file(optimized);
  if (!from || !to) return 1;
  try {
    out.paths = node_sources(from->model.graph(), to->model.graph());
    if (workload.shapes.size() == 1)  // of a mix the calls differ
      infer_shapes(from->model, workload.shapes.front(), [&](const TypedNode& node) {
        if (const auto count = count_flops(node);
            count.knowledge == FlopKnowledge::counted && !node.node.name().empty())
          out.flops[node.node.name()] = count.flops;
      });
  } catch (const std::exception&) {  // protobuf and libonnx throw
  }
  return to->model.graph().node_size();
}

}  // namespace

Result<schema::ProfiledModel> profile_onnx_model(const schema::TrialSpec& spec, const schema::ProfilePlan& plan,
                                                 const std::string& folder, const OrtSearchEnvironment& search) {
  const auto& provider = schema::provider_of(spec.provider);
  RL_TRY_ASSIGN(auto library, OrtLibrary::open(spec.runtime.library_path, search));
  RL_TRY_ASSIGN(const auto environment, OrtEnvironment::create(std::move(library)));
  RL_TRY(check_provider(environment->library(), spec.provider));
  SessionExtras plain_extras;
  if (spec.plugin) {
    RL_TRY_ASSIGN(plain_extras.plugin, plugin_device(*environment, *spec.plugin, search));
  }
  auto traced_extras = plain_extras;
  traced_extras.profile = folder + "/run";
  const bool has_nodes = !provider.compiles_graph && !provider.own_threads;
  if (has_nodes) traced_extras.optimized_model = folder + "/optimized.onnx";
  schema::ProfiledModel out;
  RL_TRY_ASSIGN(const auto plain, ProfiledSession::make(*environment, spec, plain_extras));
  RL_TRY_ASSIGN(const auto traced, ProfiledSession::make(*environment, spec, traced_extras));
  RL_TRY_ASSIGN(const auto start, traced->profile_start_ns());
  out.start_ns = on_recorder_clock(start);
  const auto nodes = has_nodes ? read_graph(spec.workload, traced_extras.optimized_model, out) : 1;
  RL_TRY(run_interleaved(*plain, *traced, plan, std::max<std::int64_t>(1, nodes), out));
  RL_TRY_ASSIGN(out.file, traced->end_profile());
  flush_recorder();
  if (provider.on_cpu() && has_nodes) RL_TRY(measure_reach(*environment, spec, folder, out));
  return out;
}

}  // namespace ridgeline::workload
