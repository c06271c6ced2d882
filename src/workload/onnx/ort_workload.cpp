// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_workload.hpp"

#include <algorithm>
#include <atomic>

#include "base/scratch_folder.hpp"
#include "gpu/multistream_state.hpp"
#include "host/this_process.hpp"
#include "schema/catalog.hpp"
#include "schema/messages.hpp"
#include "workload/messages.hpp"
#include "workload/onnx/arena_config.hpp"
#include "workload/onnx/free_dimensions.hpp"
#include "workload/onnx/gpu_arena.hpp"
#include "workload/onnx/gpu_side.hpp"
#include "workload/onnx/node_assignment.hpp"
#include "workload/onnx/ort_caller.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/ort_providers.hpp"
#include "workload/onnx/refused_inputs.hpp"
#include "workload/onnx/workload_inputs.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using schema::TrialPhase;

/// The setting that has the provider capture a CUDA graph, CUDA's own or TensorRT's; nullptr: none does.
const char* graph_setting(const schema::Configuration& configuration) {
  for (const char* key : {"enable_cuda_graph", "trt_cuda_graph_enable"})
    if (configuration.get_or(key, false).as_bool()) return key;
  return nullptr;
}

class OrtWorkload final : public Workload {
 public:
  OrtWorkload(schema::TrialSpec spec, OrtSearchEnvironment search)
      : spec_(std::move(spec)), provider_(schema::provider_of(spec_.provider)), search_(std::move(search)) {}

  [[nodiscard]] base::Result<void> prepare() override;
  [[nodiscard]] TrialPhase phase() const noexcept override { return phase_.load(); }
  [[nodiscard]] base::Nanoseconds session_create_time() const noexcept override { return session_create_time_; }
  [[nodiscard]] int concurrency() const noexcept override { return static_cast<int>(callers_.size()); }
  [[nodiscard]] double items_per_step() const noexcept override { return items_per_step_; }
  [[nodiscard]] bool enter_thread(int caller) noexcept override;
  [[nodiscard]] bool step(int caller) noexcept override { return callers_[static_cast<std::size_t>(caller)]->step(); }
  [[nodiscard]] base::Error last_error(int caller) const override {
    return callers_[static_cast<std::size_t>(caller)]->last_error();
  }
  [[nodiscard]] base::Result<OutputSet> outputs() override;
  [[nodiscard]] base::Result<void> run_once() override;
  [[nodiscard]] std::map<std::string, std::string> effective_settings() const override;
  [[nodiscard]] std::vector<schema::QualityFlag> flags() const override;
  [[nodiscard]] std::map<std::string, double> metrics() const override;
  [[nodiscard]] schema::RanOn ran_on() const override;

 private:
  [[nodiscard]] base::Result<void> load_runtime();
  [[nodiscard]] base::Result<void> create_sessions(std::int64_t count);
  /// Further callers behind those of the sessions, so that `runs` threads run each.
  [[nodiscard]] base::Result<void> share_sessions(std::int64_t runs);
  [[nodiscard]] base::Result<std::unique_ptr<OrtCaller>> create_caller();
  [[nodiscard]] base::Error explain(base::Error error) const;
  [[nodiscard]] bool uses_graph() const { return graph_setting(spec_.configuration) != nullptr; }
  [[nodiscard]] base::Result<void> check_graph() const;
  /// Where the nodes of the first session run, of one that is made for it with a runtime that does not tell.
  [[nodiscard]] base::Result<Assignment> find_nodes(const std::vector<Tensor>& inputs) const;
  [[nodiscard]] base::Result<void> check_nodes(const std::vector<Tensor>& inputs);
  [[nodiscard]] ArenaUse arena_use() const;
  [[nodiscard]] std::string library_name() const;

  schema::TrialSpec spec_;
  const schema::ExecutionProvider& provider_;
  OrtSearchEnvironment search_;
  std::atomic<TrialPhase> phase_{TrialPhase::load_runtime};
  // Destroyed in reverse order: the sessions before the options, these before the environment.
  std::unique_ptr<GpuSide> gpu_;  // nullptr on the CPU
  std::unique_ptr<OrtEnvironment> environment_;
  std::shared_ptr<SharedArena> arena_;
  std::vector<SessionSettings> settings_;  // of each caller, or one for all
  TensorPlacement placement_;
  SessionExtras extras_;
  std::vector<std::unique_ptr<OrtCaller>> callers_;
  std::size_t sessions_ = 0;  // each is that of the caller of its number
  base::Nanoseconds session_create_time_{0};
  double items_per_step_ = 1;
  std::size_t members_ = 1;               // of the shape mix
  std::int64_t threads_per_session_ = 0;  // started by the runtime, beside the caller's
  std::int64_t weight_bytes_ = 0;         // in the GPU arenas once all sessions stood
  std::string why_one_stream_;            // "": the process is in the state of one with several
  Assignment assignment_;                 // empty where it is not known
};

base::Result<void> OrtWorkload::prepare() {
  RL_TRY(check_graph());
  RL_TRY(load_runtime());
  phase_ = TrialPhase::create_session;
  const auto& configuration = spec_.configuration;
  const auto batch = configuration.get_or("batch_size", 0).as_integer(0);
  if (configuration.get_or("override_free_dimensions", false).as_bool())
    extras_.free_dimensions = free_dimensions(spec_.workload, batch);
  RL_TRY(create_sessions(configuration.get_or("parallel_sessions", 1).as_integer(1)));
  RL_TRY(share_sessions(configuration.get_or("concurrent_runs", 1).as_integer(1)));

  if (!extras_.free_dimensions.empty()) restore_free_dimensions(callers_.front()->inputs(), spec_.workload);
  RL_TRY_ASSIGN(const auto inputs, make_workload_inputs(callers_.front()->inputs(), spec_.workload, batch));
  items_per_step_ = inputs.items_per_step;
  const bool one_graph = configuration.get_or("gpu_graph_id", "per_shape").as_text() == "first_only";
  for (const auto& caller : callers_)
    for (std::size_t at = 0; at < inputs.members.size(); ++at) {
      const int number = static_cast<int>(at) + 1;
      const int graph = !uses_graph() || inputs.members.size() == 1 ? SessionSettings::kOwnGraph
                        : one_graph && at > 0                       ? SessionSettings::kNoGraph
                                                                    : number;
      RL_TRY(caller->add_shape_set(inputs.members[at], settings_.front(), graph));
    }
  members_ = inputs.members.size();
  return check_nodes(inputs.members.front());
}

base::Result<Assignment> OrtWorkload::find_nodes(const std::vector<Tensor>& inputs) const {
  if (extras_.record_assignment) return node_assignment(environment_->library(), callers_.front()->session());
  const base::ScratchFolder folder("profile");
  auto extras = extras_;
  extras.profile = (folder.path() / "run").string();
  RL_TRY_ASSIGN(const auto settings, SessionSettings::make(*environment_, spec_.configuration, spec_.provider, extras));
  RL_TRY_ASSIGN(const auto caller, OrtCaller::create(*environment_, spec_.workload.location, settings));
  RL_TRY(caller->add_shape_set(inputs, settings, SessionSettings::kOwnGraph));
  if (!caller->step()) return tl::unexpected<base::Error>(caller->last_error());
  RL_TRY_ASSIGN(const auto profile, caller->end_profile());
  return read_profile(profile);
}

/// A session falls back to the CPU without a word, and its times are then another provider's.
base::Result<void> OrtWorkload::check_nodes(const std::vector<Tensor>& inputs) {
  // A second session for an old runtime would show in what a GPU's memory is said to need.
  if (&provider_ == &schema::cpu_provider() || (!extras_.record_assignment && provider_.takes_device_tensors))
    return {};
  RL_TRY_ASSIGN(assignment_, find_nodes(inputs));
  const auto counts = count_by_provider(assignment_);
  if (counts.empty() || counts.count(library_name()) != 0) return {};
  return base::fail(ErrorCode::unsupported, "provider {} took none of the model's {} nodes: they run on {}",
                    spec_.provider, assignment_.nodes.size(), counts.begin()->first)
      .hint("check its options (names of devices are in capitals), or use another --provider");
}

std::string OrtWorkload::library_name() const { return spec_.plugin ? spec_.plugin->ep_name : provider_.library_name; }

/// One graph a session: once there is one, every run replays it, whatever its shape. TensorRT's provider does not look
/// at gpu_graph_id (ONNX Runtime 1.29).
base::Result<void> OrtWorkload::check_graph() const {
  const auto members = spec_.workload.shapes.size();
  if (provider_.graph_per_shape || !uses_graph() || members < 2) return {};
  return base::fail(ErrorCode::unsupported, "{}=true: {}'s provider has one graph, for one shape, and the mix has {}",
                    graph_setting(spec_.configuration), provider_.title, members)
      .hint("leave it out");
}

/// The CUDA provider captures a graph for each thread that runs it, TensorRT's one for a session. Calls of one caller
/// would spoil the capture of another one's graph, and a shape's next run may be far away.
bool OrtWorkload::enter_thread(int caller) noexcept {
  constexpr std::size_t kRunsUntilCapture = 2;  // the first finds out the outputs' shapes
  if (!uses_graph() || (callers_.size() == 1 && members_ == 1)) return true;
  for (std::size_t run = 0; run < kRunsUntilCapture * members_; ++run)
    if (!step(caller)) return false;
  return true;
}

base::Result<void> OrtWorkload::load_runtime() {
  phase_ = TrialPhase::load_runtime;
  RL_TRY_ASSIGN(auto library, OrtLibrary::open(spec_.runtime.library_path, search_));
  if (!spec_.runtime.version.empty() && library.version() != spec_.runtime.version)
    return base::fail(ErrorCode::unavailable, "{} is ONNX Runtime {}, but the trial is for {}", library.path().string(),
                      library.version(), spec_.runtime.version)
        .hint("give --ort-library with that version");
  RL_TRY_ASSIGN(environment_, OrtEnvironment::create(std::move(library)));
  RL_TRY(check_provider(environment_->library(), spec_.provider));
  if (spec_.plugin) {
    RL_TRY_ASSIGN(extras_.plugin, plugin_device(*environment_, *spec_.plugin, search_));
  }
  extras_.record_assignment =
      &provider_ != &schema::cpu_provider() && environment_->library().api_version() >= kFirstApiThatTellsNodes;
  if (!provider_.takes_device_tensors) return {};
  RL_TRY_ASSIGN(gpu_, GpuSide::open());
  RL_TRY_ASSIGN(const auto binding, io_binding_of(spec_));
  placement_ = {binding, gpu_.get(), spec_.tensor_location == "host"};
  if (spec_.isolated) return {};
  if (const auto done = gpu::enter_multistream_state(gpu_->driver); !done) why_one_stream_ = done.error().message;
  return {};
}

base::Result<void> OrtWorkload::create_sessions(std::int64_t count) {
  const auto threads_before = host::thread_count();
  for (std::int64_t at = 0; at < count; ++at) {
    const auto start = base::system_clock().now();
    RL_TRY_ASSIGN(auto caller, create_caller());
    session_create_time_ += base::system_clock().now() - start;
    callers_.push_back(std::move(caller));
  }
  threads_per_session_ = (host::thread_count() - threads_before) / count;
  sessions_ = callers_.size();
  weight_bytes_ = arena_use().bytes;
  return {};
}

base::Result<void> OrtWorkload::share_sessions(std::int64_t runs) {
  const bool graph = uses_graph();
  if (runs > 1 && (graph || placement_.binding == IoBinding::stream))
    return base::fail(ErrorCode::unsupported, "concurrent_runs={}: {} belongs to one run at a time", runs,
                      graph ? "a CUDA graph" : "the stream of io_binding=stream")
        .hint("use parallel_sessions={}, or leave it out", runs);
  for (std::int64_t run = 1; run < runs; ++run)
    for (std::size_t at = 0; at < sessions_; ++at) {
      RL_TRY_ASSIGN(auto caller, callers_[at]->share());
      callers_.push_back(std::move(caller));
    }
  return {};
}

base::Result<std::unique_ptr<OrtCaller>> OrtWorkload::create_caller() {
  std::optional<gpu::CudaStream> stream;
  if (placement_.binding == IoBinding::stream) {
    RL_TRY_ASSIGN(stream, gpu::CudaStream::make(gpu_->driver));
    extras_.compute_stream = stream->handle();
  }
  if (settings_.empty() || stream) {
    RL_TRY_ASSIGN(auto settings, SessionSettings::make(*environment_, spec_.configuration, spec_.provider, extras_));
    settings_.push_back(std::move(settings));
  }
  if (!arena_) {
    RL_TRY_ASSIGN(arena_, SharedArena::of(*environment_, spec_.configuration));
  }
  auto caller =
      OrtCaller::create(*environment_, spec_.workload.location, settings_.back(), placement_, std::move(stream));
  if (!caller && uses_graph()) return tl::unexpected<base::Error>(explain(std::move(caller).error()));
  return caller;
}

/// A refused CUDA graph names no node: asks a session without one which nodes are to blame.
base::Error OrtWorkload::explain(base::Error error) const {
  if (error.message.find("graph capture") == std::string::npos) return error;
  const std::string setting = graph_setting(spec_.configuration);
  auto plain = spec_.configuration;
  plain.unset(setting);
  SessionExtras extras = extras_;
  extras.compute_stream = nullptr;
  extras.record_assignment = true;
  const auto settings = SessionSettings::make(*environment_, plain, spec_.provider, extras);
  if (!settings) return error;
  const auto caller = OrtCaller::create(*environment_, spec_.workload.location, *settings);
  if (!caller) return error;
  const auto assigned = node_assignment(environment_->library(), (*caller)->session());
  const auto left = assigned ? nodes_beside(*assigned, library_name()) : std::vector<AssignedNode>();
  if (left.empty()) return error;
  error.code = ErrorCode::unsupported;
  const auto outside = provider_.compiles_graph ? "outside " + provider_.title : std::string("on the CPU");
  error.message = fmt::format("{}=true: {}", setting, nodes_text(left, outside));
  const bool can_fix = extras_.free_dimensions.empty() && !spec_.workload.dim_names.empty();
  error.hint = can_fix ? "try override_free_dimensions=true, which may free the graph of them"
               : provider_.compiles_graph
                   ? fmt::format("leave it out: {}'s CUDA graph needs every node in an engine", provider_.title)
                   : "leave it out: a CUDA graph needs every node on the GPU";
  return error;
}

base::Result<OutputSet> OrtWorkload::outputs() {
  if (callers_.empty()) return base::fail(ErrorCode::internal, "outputs asked for before prepare");
  OutputSet outputs;
  if (auto done = callers_.front()->collect_outputs(outputs); !done)
    return tl::unexpected<base::Error>(name_refused_inputs(
        std::move(done).error(), spec_.workload, callers_.front()->inputs(), callers_.front()->last_member()));
  return outputs;
}

base::Result<void> OrtWorkload::run_once() {
  for (std::size_t member = 0; member < members_; ++member)
    if (!step(0))
      return tl::unexpected<base::Error>(name_refused_inputs(last_error(0), spec_.workload, callers_.front()->inputs(),
                                                             callers_.front()->last_member()));
  return {};
}

std::map<std::string, std::string> OrtWorkload::effective_settings() const {
  if (settings_.empty()) return {};
  auto settings = settings_.front().read_back();
  // Threads of the provider's own are no threads of this pool.
  if (provider_.own_threads) return settings;
  // In parallel mode the count holds the inter-op pool as well, so that it says nothing of either.
  if (!callers_.empty() && spec_.configuration.get_or("execution_mode", "sequential").as_text() == "sequential")
    settings["intra_op_num_threads"] = std::to_string(threads_per_session_ + 1);
  return settings;
}

/// Of all sessions. With a SharedArena they have one together, and each tells of all of it.
ArenaUse OrtWorkload::arena_use() const {
  ArenaUse use;
  const auto arenas = arena_ != nullptr ? std::min<std::size_t>(sessions_, 1) : sessions_;
  for (std::size_t at = 0; gpu_ != nullptr && at < arenas; ++at) {
    const auto one = gpu_arena_use(environment_->library(), callers_[at]->session());
    use.bytes += one.bytes;
    use.peak_bytes += one.peak_bytes;
  }
  return use;
}

std::map<std::string, double> OrtWorkload::metrics() const {
  const auto peak = arena_use().peak_bytes;
  if (peak == 0) return {};
  std::map<std::string, double> metrics{{"gpu_arena_gb", static_cast<double>(peak) * 1e-9}};
  if (provider_.weights_in_arena) metrics["gpu_weights_gb"] = static_cast<double>(weight_bytes_) * 1e-9;
  return metrics;
}

std::vector<schema::QualityFlag> OrtWorkload::flags() const {
  std::vector<schema::QualityFlag> flags;
  if (environment_ == nullptr) return flags;
  for (const auto& line : environment_->log_lines())
    if (auto said = schema::messages::foreign(line);
        std::none_of(flags.begin(), flags.end(), [&](const auto& flag) { return flag.message == said; }))
      flags.push_back({schema::FlagLevel::notice, "runtime_log", std::move(said)});
  if (!why_one_stream_.empty())
    flags.push_back({schema::FlagLevel::notice, "one_stream", messages::one_stream(why_one_stream_)});
  if (spec_.configuration.get_or("intra_op_num_threads", 0).as_integer() == 0 && threads_per_session_ > 0 &&
      !provider_.own_threads)
    flags.push_back(
        {schema::FlagLevel::info, "runtime_chose_threads", messages::runtime_chose_threads(threads_per_session_)});
  if (&provider_ == &schema::cpu_provider() &&
      std::any_of(callers_.begin(), callers_.end(), [](const auto& caller) { return caller->has_met_denormals(); }))
    flags.push_back({schema::FlagLevel::info, std::string(schema::kMetDenormals), messages::met_denormals()});
  for (const auto& [key, value] : spec_.configuration.values()) {
    const auto* param = schema::find_param(key);
    if (param != nullptr && !is_known_to(*param, environment_->library().version()))
      flags.push_back({schema::FlagLevel::notice, "unknown_setting",
                       messages::unknown_setting({.key = key,
                                                  .value = value.to_text(),
                                                  .version = environment_->library().version(),
                                                  .target = std::string(param->target)})});
  }
  return flags;
}

schema::RanOn OrtWorkload::ran_on() const {
  schema::RanOn ran;
  for (const auto& file : host::mapped_files())
    if (file.filename().string().rfind("libonnxruntime", 0) == 0 ||
        (spec_.plugin && file == spec_.plugin->library_path))
      ran.libraries.push_back(file.string());
  ran.nodes = count_by_provider(assignment_);
  const auto parts = assignment_.parts.find(library_name());
  if (parts != assignment_.parts.end()) ran.parts = parts->second;
  return ran;
}

}  // namespace

std::unique_ptr<Workload> make_ort_workload(schema::TrialSpec spec, OrtSearchEnvironment environment) {
  return std::make_unique<OrtWorkload>(std::move(spec), std::move(environment));
}

}  // namespace ridgeline::workload
