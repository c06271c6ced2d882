// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "schema/configuration.hpp"
#include "schema/environment.hpp"
#include "schema/found_runtime.hpp"
#include "schema/message.hpp"
#include "schema/profile_verification.hpp"
#include "schema/run.hpp"
#include "schema/run_envelope.hpp"
#include "schema/run_request.hpp"
#include "schema/workload_ref.hpp"

namespace ridgeline::schema {

/// A model that `ridgeline profile` ran, and how.
struct ProfileModelRequest {
  WorkloadRef workload;
  std::string provider;  ///< ExecutionProvider::id, "auto", or "": as tune chooses
  RuntimeRequest where;
  Configuration configuration;
};
RL_DECLARE_JSON(ProfileModelRequest)

/// What a `ridgeline profile` was asked for, as it is stored.
struct ProfileRequest : RunRequest {
  std::vector<std::string> files;    ///< that were imported
  std::vector<std::string> command;  ///< that was recorded
  std::string directory;             ///< where it ran; "": of older records
  std::optional<ProfileModelRequest> model;
};
RL_DECLARE_JSON(ProfileRequest)

/// A file or a program that the events come from.
struct ProfileSource {
  std::string path;  ///< of a recorded program: its command line
  std::string tool;  ///< "PyTorch profiler", "Nsight Systems", "Nsight Compute", "ONNX Runtime", "Ridgeline",
                     ///< kRecordedByUs
  std::int64_t bytes = 0;
  std::int64_t events = 0;
};
RL_DECLARE_JSON(ProfileSource)

/// The tool of a program that `profile -- COMMAND` ran.
inline constexpr std::string_view kRecordedByUs = "recorded by Ridgeline";

/// Why a GPU did nothing for a while, by what the thread did that launched the next piece of work.
enum class IdleCause {
  launch,           ///< it was on its way to the next launch: Python, the framework, the launch itself
  host_work,        ///< it did something else, for longer than a launch takes
  host_wait,        ///< it waited for another thread or process, a socket or a time
  pageable_copy,    ///< it copied pageable memory to where the GPU reads it
  host_unrecorded,  ///< it launched nothing for that long, and the trace has no event that says what it did
  sync,             ///< it had waited for the GPU, and began to launch again only then
  data_loading,     ///< it waited for the next batch
  allocation,       ///< cudaMalloc, cudaFree and the like
  compilation,      ///< code was compiled or loaded
  profiler,         ///< the profiler's own work
  queue,            ///< the work had been launched in time and waited on the GPU
  unknown,          ///< the trace has no launch of that work
};

struct ProfileIdle {
  IdleCause cause = IdleCause::unknown;
  std::int64_t gaps = 0;      ///< between two pieces of work
  std::int64_t total_ns = 0;  ///< of the gaps, and of what lies before the first work and after the last
  std::int64_t longest_ns = 0;
  /// Where the program launched the work behind, or what it did in place of that (host_work), the longest in total
  /// first, at most five: "train.py(41): step" or a module, and nanoseconds.
  std::vector<std::pair<std::string, std::int64_t>> places;
};
RL_DECLARE_JSON(ProfileIdle)

/// What a GPU of a process did. Times in nanoseconds; kernel_ns, copy_ns and busy_ns count work that overlaps once.
struct ProfileDevice {
  std::int64_t process = 0;
  std::int32_t device = 0;
  std::string name;  ///< "" where the trace does not tell
  std::int32_t multiprocessors = 0;
  std::int64_t memory_bytes_per_s = 0;  ///< at most, as the trace tells it; 0: unknown
  std::int64_t kernels = 0;
  std::int64_t graph_launches = 0;  ///< of CUDA graphs that were recorded as a whole; their time is in kernel_ns
  std::int64_t span_ns = 0;  ///< all its work and the steps around it; without steps, what its launching threads did
  std::int64_t busy_ns = 0;
  std::int64_t kernel_ns = 0;
  std::int64_t copy_ns = 0;
  std::int64_t both_ns = 0;  ///< a kernel ran while memory was copied or set
  std::int64_t streams = 0;
  std::int64_t critical_stream = 0;  ///< the one that was busy longest
  std::int64_t critical_ns = 0;      ///< how long it was
  std::int64_t collective_ns = 0;    ///< kernels of communication ran (NCCL, RCCL)
  std::int64_t exposed_ns = 0;       ///< ... and no other kernel
  std::vector<ProfileIdle> idle;     ///< sums to span_ns - busy_ns
};
RL_DECLARE_JSON(ProfileDevice)

/// A hardware counter of a kernel, over those of its launches that have it.
struct ProfileCounter {
  std::string name;  ///< as Nsight Compute has it: "dram__bytes_read.sum", or "L2 Hit Rate" on its details page
  std::string unit;  ///< "byte", "ns", "%", "byte/s", "hz", or as the profiler has it
  std::int64_t launches = 0;
  double sum = 0;  ///< over the launches
  double least = 0;
  double most = 0;
  [[nodiscard]] double mean() const noexcept { return launches > 0 ? sum / static_cast<double>(launches) : 0; }
};
RL_DECLARE_JSON(ProfileCounter)

/// Where a number of bytes comes from.
enum class BytesSource {
  unknown,          ///< there is no number, or its run was stored before sources were kept
  range_profiler,   ///< counted by the GPU while the program ran, outside the time that was recorded
  uncaptured_step,  ///< the same, for a kernel of a CUDA graph: of a step that launched it without the graph
  nsight_compute,
  shapes,
  recorded,  ///< with the copy that it is the size of
  mixed,     ///< several of these
};
/// Of a sum.
[[nodiscard]] BytesSource merged(BytesSource one, BytesSource other) noexcept;

/// Kernels whose bytes are of one source.
struct ProfileBytes {
  BytesSource source = BytesSource::unknown;
  std::int64_t first_step = 0;  ///< of the program, in which they were counted; 0: in none
  std::int64_t last_step = 0;
  bool second_run = false;  ///< the program ran once more to count them
  std::int64_t launches = 0;
  std::int64_t kernel_ns = 0;  ///< their time
};
RL_DECLARE_JSON(ProfileBytes)

/// A CUDA graph whose launches were counted as a whole; sums over these launches.
struct ProfileGraph {
  std::string name;
  std::string module;  ///< that launched it; "" where none
  std::int64_t nodes = 0;
  std::int64_t launches = 0;
  std::int64_t read_bytes = -1;  ///< DRAM; -1: unknown, and so below
  std::int64_t write_bytes = -1;
  std::int64_t l2_bytes = -1;
  std::int64_t total_ns = -1;
  double tensor_share = -1;  ///< of the time that tensor cores worked, a mean
  BytesSource bytes_source = BytesSource::range_profiler;
};
RL_DECLARE_JSON(ProfileGraph)

/// What a GPU's memory moved on average while a program ran, by the GPU's own monitors (GPM); no part of it belongs to
/// a module.
struct ProfileBandwidth {
  std::int32_t device = 0;  ///< as nvidia-smi counts
  std::string name;
  double bytes_per_s = 0;
  double peak_bytes_per_s = 0;
  double seconds = 0;
};
RL_DECLARE_JSON(ProfileBandwidth)

/// All launches of one kernel by its name, or all copies of one kind. Times in nanoseconds on the GPU.
struct ProfileKernel {
  std::string name;
  std::string module;  ///< that most of its time belongs to; "" where none
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
  std::array<std::int32_t, 3> grid{};  ///< of the longest launch
  std::array<std::int32_t, 3> block{};
  std::int32_t registers = 0;
  std::int32_t shared_bytes = 0;
  std::int64_t bytes = -1;     ///< DRAM, all launches together; of copies what they copied; -1: unknown
  std::int64_t bytes_ns = -1;  ///< of total_ns: launches whose bytes are known; -1: all
  BytesSource bytes_source = BytesSource::unknown;
  std::vector<ProfileCounter> counters;  ///< by name
  std::string line;                      ///< that launches all of them: "net.py(57): forward"; "": several, or unknown
  /// What bytes are divided by.
  [[nodiscard]] std::int64_t rated_ns() const noexcept { return bytes_ns < 0 ? total_ns : bytes_ns; }
};
RL_DECLARE_JSON(ProfileKernel)

/// Nodes of an ONNX model of one name. Times in nanoseconds on the host.
struct ProfileNode {
  std::string name;
  std::string operation;  ///< "Conv"
  std::string provider;   ///< "CPUExecutionProvider"
  std::string module;     ///< path of the row of the tree that it stands in
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t bytes = -1;     ///< read and written by all calls, from the shapes; -1: unknown
  std::int64_t flops = -1;     ///< likewise
  std::int64_t bytes_ns = -1;  ///< of total_ns: calls whose bytes are known; -1: all
  BytesSource bytes_source = BytesSource::unknown;
  /// What bytes are divided by.
  [[nodiscard]] std::int64_t rated_ns() const noexcept { return bytes_ns < 0 ? total_ns : bytes_ns; }
};
RL_DECLARE_JSON(ProfileNode)

/// What a Python line launched and waited for, by the innermost line that is known. Times in nanoseconds.
struct ProfileLine {
  std::string line;  ///< "net.py(57): forward"
  std::int64_t kernels = 0;
  std::int64_t copies = 0;   ///< and sets of memory
  std::int64_t work_ns = 0;  ///< of both, on the GPU
  std::int64_t waits = 0;    ///< for the GPU
  std::int64_t waited_ns = 0;
};
RL_DECLARE_JSON(ProfileLine)

/// An operation of the framework by its name, whatever it was called by.
struct ProfileOperator {
  std::string name;
  std::int64_t calls = 0;
  std::int64_t host_ns = 0;  ///< with what it calls
};
RL_DECLARE_JSON(ProfileOperator)

enum class ModuleKind {
  root,
  module,        ///< nn.Module, a range of the user, a part of an ONNX path
  operation,     ///< of the framework
  node,          ///< of an ONNX model
  unattributed,  ///< work whose launch, or whose launch's place, is not in the trace
};

/// A row of the module tree. Self: without the rows below it. Times in nanoseconds, sums over all calls; on the host of
/// threads beside each other each counts.
struct ProfileModule {
  std::string path;  ///< names from the outermost, joined by "/"; "" of the root
  std::string name;
  int parent = -1;  ///< place in ProfileRun::modules; -1 of the root
  ModuleKind kind = ModuleKind::root;
  std::int64_t calls = 0;
  std::int64_t host_self_ns = 0;
  std::int64_t host_total_ns = 0;
  std::int64_t gpu_self_ns = 0;
  std::int64_t gpu_total_ns = 0;
  std::int64_t backward_ns = 0;  ///< of the backward pass: of gpu_total_ns, without work of a GPU of host_total_ns
  std::int64_t kernels = 0;      ///< in total
  std::int64_t bytes = -1;       ///< in total; -1: unknown
  std::int64_t flops = -1;
  std::int64_t bytes_ns = -1;  ///< of the total on the GPU, or without one on the host: as in ProfileKernel
  std::int64_t flops_ns = -1;  ///< of that total: nodes whose operations are counted; -1: all
  BytesSource bytes_source = BytesSource::unknown;
  std::int64_t tensor_ns = -1;           ///< of the total on the GPU: time with tensor cores at work; -1: unknown
  std::int64_t tensor_of_ns = -1;        ///< of that total: kernels for which it is known
  std::vector<std::int64_t> step_ns;     ///< total time in each step, of the GPU, or of the host without one
  std::vector<std::int64_t> step_bytes;  ///< empty: unknown
  std::string line;                      ///< that calls the module: "net.py(57): forward"; "": unknown
};
RL_DECLARE_JSON(ProfileModule)

/// An iteration of a training, a request, a Run() call.
struct ProfileStep {
  std::string name;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  ///< on the host
  std::int64_t work_ns = 0;      ///< of the GPUs, sum over what it launched; without a GPU of the nodes
  std::int64_t kernels = 0;
  bool left_out = false;  ///< of the times by module and by node, and of findings: it took far longer than others
};
RL_DECLARE_JSON(ProfileStep)

/// What a profiler takes, and what is left: of one call, in nanoseconds, means of the medians of interleaved rounds.
struct ProfileCost {
  double plain_ns = 0;   ///< without the profiler
  double traced_ns = 0;  ///< with it
  double nodes_ns = 0;   ///< of that its nodes, each until the next begins, and what the profiler takes for them
  double events = 0;     ///< nodes
  double event_ns = 0;   ///< what the profiler takes for one, by interleaved calls with and without it; 0: not seen
  [[nodiscard]] double own_ns() const noexcept { return events * event_ns; }
};
RL_DECLARE_JSON(ProfileCost)

/// What the device of a profile reaches at best; 0: not known.
struct ProfileRoof {
  double bytes_per_s = 0;  ///< memory, read and written
  double flops_per_s = 0;
  /// Share of the time that work of so many bytes and operations needs at least; nullopt: unknown.
  [[nodiscard]] std::optional<double> share(std::int64_t bytes, std::int64_t flops, std::int64_t ns) const;
};
RL_DECLARE_JSON(ProfileRoof)

/// What was allocated from one place, or from places that are alike, and not yet freed.
struct ProfileHolder {
  std::string place;  ///< path of a module's row, or "train.py(41): step"
  std::int64_t bytes = 0;
  std::int64_t allocations = 0;
};
RL_DECLARE_JSON(ProfileHolder)

/// The most that was allocated, and the most that was reserved, in one of equal parts of the time.
struct ProfileMemoryPoint {
  std::int64_t time_ns = 0;  ///< of the most that was allocated
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
};
RL_DECLARE_JSON(ProfileMemoryPoint)

/// An allocation that failed.
struct ProfileOutOfMemory {
  std::int64_t time_ns = 0;
  std::int64_t asked_bytes = 0;
  std::int64_t free_bytes = -1;  ///< of the GPU; -1: unknown
  std::string place;
};
RL_DECLARE_JSON(ProfileOutOfMemory)

/// The memory of a GPU that a framework's allocator gave to a process. Times in nanoseconds from the first event of
/// memory. Reserved: what the allocator took from the GPU, with what it gave to nobody.
struct ProfileMemory {
  std::int64_t process = 0;
  std::int32_t device = 0;
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t peak_ns = 0;                 ///< when that was
  std::int64_t reserved_at_peak_bytes = 0;  ///< what was reserved then
  std::int64_t peak_reserved_bytes = 0;     ///< the most at any time
  std::int64_t end_bytes = 0;               ///< allocated after the last event
  std::int64_t allocations = 0;
  std::int64_t frees = 0;
  std::vector<ProfileHolder> holders;             ///< of what was allocated at the peak, the largest first, at most ten
  std::vector<ProfileMemoryPoint> series;         ///< in order of time, at most 500
  std::vector<ProfileOutOfMemory> out_of_memory;  ///< the first 20
  [[nodiscard]] std::int64_t unused_bytes() const noexcept { return reserved_at_peak_bytes - peak_allocated_bytes; }
};
RL_DECLARE_JSON(ProfileMemory)

struct ProfileFinding {
  Message title;  ///< with the main number
  std::string module;
  std::vector<Message> evidence;  ///< rows, bytes or gaps, each a line
  std::int64_t saving_ns = 0;     ///< predicted, of the whole trace
  double saving_share = 0;        ///< of the time of its GPUs (ProfileDevice::span_ns), without one of the runs
  Message computed;               ///< how the saving was
  Message advice;
  std::string snippet;                              ///< what to write; "" where there is nothing to
  std::optional<ProfileVerification> verification;  ///< nullopt: its change was not tried
  std::string line;                                 ///< that calls the module, or all that are meant; "": unknown
  /// "launch-bound", by the title.
  [[nodiscard]] std::string rule() const;
};
RL_DECLARE_JSON(ProfileFinding)

/// What a trace tells, without its events.
struct ProfileTables {
  std::vector<ProfileDevice> devices;
  std::vector<ProfileKernel> kernels;      ///< longest in total first
  std::vector<ProfileKernel> copies;       ///< likewise; sets of memory among them
  std::vector<ProfileNode> nodes;          ///< likewise
  std::vector<ProfileOperator> operators;  ///< longest on the host first
  std::vector<ProfileModule> modules;      ///< the root first, parents before children
  std::string step_name;                   ///< what the steps are: "ProfilerStep", "model_run"; "" without any
  std::vector<ProfileStep> steps;
  std::vector<ProfileBytes> bytes;    ///< of kernels, a row per source; empty: of none are they known
  std::vector<ProfileLine> lines;     ///< of most work first, then of the longest waits; empty: none are known
  std::vector<ProfileGraph> graphs;   ///< whose launches were counted as a whole
  std::vector<ProfileMemory> memory;  ///< of GPUs; empty: nothing of it was recorded
  std::int64_t span_ns = 0;           ///< from the first to the last event that counts
  std::int64_t runs = 1;              ///< of a model that the totals are over, not left_out; 1 of anything else
  std::vector<Message> missing;       ///< what the trace lacks, each with the flag that records it
};
RL_DECLARE_JSON(ProfileTables)

/// One `ridgeline profile` as recorded: every table, finding and report can be rebuilt from it.
struct ProfileRun : RunEnvelope {
  static constexpr RunLayout kLayout{"profile", "settings", "findings"};

  ProfileRequest request;
  std::optional<Environment> environment;  ///< of what was recorded here
  std::vector<ProfileSource> sources;
  std::vector<RunTrial> trials;     ///< none
  std::string provider;             ///< ExecutionProvider::id of a model that was run; "": what was imported
  std::string runtime;              ///< "onnxruntime 1.29.0"
  std::optional<ProfileCost> cost;  ///< of a model that was run
  ProfileRoof roof;
  std::vector<ProfileBandwidth> bandwidths;  ///< of a recorded program for whose kernels no bytes are known
  std::string trace_file;                    ///< its events, full path; "": they were not kept
  ProfileTables tables;
  std::vector<ProfileFinding> findings;  ///< largest predicted saving first
};
RL_DECLARE_JSON(ProfileRun)

[[nodiscard]] Run to_run(const ProfileRun& run);

/// The names of what a profile is of: files without their folders, or the command line of a recorded program.
[[nodiscard]] std::vector<std::string> source_names(const ProfileRun& run);

/// What a profile without findings says: of idle time that nobody knows the cause of there is no telling.
[[nodiscard]] Message no_findings(const ProfileRun& run);

/// What modules that are alike share: "Block_#" of "Block_11", "pre_forward (block.#.layer.#)". Digits within a word,
/// as in Conv2d, are part of it. Of a path as of a name.
[[nodiscard]] std::string module_class(std::string_view name);

/// A path of modules without the classes of all but the last: "model/encoder/layer.0 (Block)" of
/// "model (Net)/encoder (Encoder)/layer.0 (Block)".
[[nodiscard]] std::string short_module_path(std::string_view path);

}  // namespace ridgeline::schema

template <>
struct ridgeline::base::EnumNames<ridgeline::schema::IdleCause> {
  using enum schema::IdleCause;
  static constexpr std::array names{std::pair{launch, "launch"},
                                    std::pair{host_work, "host_work"},
                                    std::pair{host_wait, "host_wait"},
                                    std::pair{pageable_copy, "pageable_copy"},
                                    std::pair{host_unrecorded, "host_unrecorded"},
                                    std::pair{sync, "sync"},
                                    std::pair{data_loading, "data_loading"},
                                    std::pair{allocation, "allocation"},
                                    std::pair{compilation, "compilation"},
                                    std::pair{profiler, "profiler"},
                                    std::pair{queue, "queue"},
                                    std::pair{unknown, "unknown"}};
};
template <>
struct ridgeline::base::EnumNames<ridgeline::schema::BytesSource> {
  using enum schema::BytesSource;
  static constexpr std::array names{std::pair{unknown, ""},
                                    std::pair{range_profiler, "range_profiler"},
                                    std::pair{uncaptured_step, "uncaptured_step"},
                                    std::pair{nsight_compute, "nsight_compute"},
                                    std::pair{shapes, "shapes"},
                                    std::pair{recorded, "recorded"},
                                    std::pair{mixed, "mixed"}};
};
template <>
struct ridgeline::base::EnumNames<ridgeline::schema::ModuleKind> {
  using enum schema::ModuleKind;
  static constexpr std::array names{std::pair{root, "root"}, std::pair{module, "module"},
                                    std::pair{operation, "operation"}, std::pair{node, "node"},
                                    std::pair{unattributed, "unattributed"}};
};
