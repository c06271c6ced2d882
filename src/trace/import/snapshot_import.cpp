// SPDX-License-Identifier: Apache-2.0
// A snapshot has "segments", the memory that the allocator holds at the end with its blocks, and "device_traces", for
// each device a list of events. Both are taken item by item while the pickle is read: files of over a gigabyte exist.
#include "trace/import/snapshot_import.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <vector>

#include "trace/import/bound_values.hpp"
#include "trace/import/pickle_reader.hpp"
#include "trace/import/snapshot_frames.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::int64_t kMostDeviceBytes = std::int64_t{1} << 44;  // more is no size
constexpr std::int64_t kMostTotalBytes = std::int64_t{1} << 60;   // of sums, so that none overflows
constexpr std::int64_t kMostUs = std::int64_t{1} << 52;           // since 1970: in the year 2112
constexpr std::size_t kMostFields = 64;  // of an event, a block, a segment; they have about ten
constexpr std::string_view kRecordSnapshot =
    "record with torch.cuda.memory._record_memory_history(), then "
    "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")";

/// What is allocated at the end.
struct Block {
  std::int64_t address = 0;
  std::int64_t bytes = 0;
  NameId place = 0;
};

struct DeviceState {
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::vector<Block> blocks;
};

class Snapshot {
 public:
  explicit Snapshot(Trace& trace)
      : trace_(trace), frames_(pickle_, trace.strings), names_(pickle_), lane_(trace.thread_lane({})) {}

  Result<void> read(const std::string& path) {
    RL_TRY_ASSIGN(const auto root,
                  pickle_.read(path, [this](PickleValue list, PickleValue item) { return take(list, item); }));
    const auto segments = value_of(root, names_.segments);
    const auto traces = value_of(root, names_.device_traces);
    const auto* lists = pickle_.nodes.find(traces);
    if (segments.kind != PickleKind::list || lists == nullptr || traces.kind != PickleKind::list)
      return base::fail(ErrorCode::unsupported, "{}: a pickle, but no snapshot of torch's memory", path)
          .hint("{}", kRecordSnapshot);
    std::map<std::int64_t, std::int32_t> devices;  // by the number of the list
    for (std::size_t i = 0; i < lists->size(); ++i) devices.emplace((*lists)[i].bits, static_cast<std::int32_t>(i));
    for (auto& device : trace_.allocations.device) {
      const auto found = devices.find(device);
      if (found == devices.end()) return base::fail(ErrorCode::corrupt, "{}: events that belong to no device", path);
      device = found->second;
    }
    finish();
    if (trace_.allocations.size() == 0)
      return base::fail(ErrorCode::unsupported, "{}: nothing was allocated", path).hint("{}", kRecordSnapshot);
    if (!has_events_) trace_.notes.push_back(messages::no_history());
    if (other_actions_ > 0) trace_.notes.push_back(messages::unknown_events(static_cast<std::int64_t>(other_actions_)));
    return {};
  }

 private:
  /// Keys, and values of "action" and "state".
  struct Names {
    explicit Names(PickleReader& pickle)
        : segments(pickle.name("segments")),
          device_traces(pickle.name("device_traces")),
          action(pickle.name("action")),
          addr(pickle.name("addr")),
          size(pickle.name("size")),
          time_us(pickle.name("time_us")),
          frames(pickle.name("frames")),
          device_free(pickle.name("device_free")),
          device(pickle.name("device")),
          total_size(pickle.name("total_size")),
          blocks(pickle.name("blocks")),
          state(pickle.name("state")),
          address(pickle.name("address")),
          requested_size(pickle.name("requested_size")),
          active_allocated(pickle.name("active_allocated")),
          alloc(pickle.name("alloc")),
          free_requested(pickle.name("free_requested")),
          free_completed(pickle.name("free_completed")),
          segment_alloc(pickle.name("segment_alloc")),
          segment_free(pickle.name("segment_free")),
          segment_map(pickle.name("segment_map")),
          segment_unmap(pickle.name("segment_unmap")),
          oom(pickle.name("oom")),
          snapshot(pickle.name("snapshot")) {}
    NameId segments, device_traces, action, addr, size, time_us, frames, device_free, device, total_size, blocks, state,
        address, requested_size, active_allocated, alloc, free_requested, free_completed, segment_alloc, segment_free,
        segment_map, segment_unmap, oom, snapshot;
  };

  /// The last of that key, as Python has it; None where there is none.
  [[nodiscard]] PickleValue value_of(PickleValue dictionary, NameId key) const {
    const auto* fields = pickle_.nodes.find(dictionary);
    if (fields == nullptr || dictionary.kind != PickleKind::dictionary) return {};
    for (std::size_t i = fields->size() / 2; i-- > 0;)
      if ((*fields)[2 * i].is_text(key)) return (*fields)[2 * i + 1];
    return {};
  }

  bool take(PickleValue list, PickleValue item) {
    const auto* fields = pickle_.nodes.find(item);
    if (item.kind != PickleKind::dictionary || fields == nullptr || fields->size() > 2 * kMostFields) return false;
    const auto has = [&](NameId key) { return value_of(item, key).kind != PickleKind::none; };
    if (has(names_.action) && has(names_.size))
      take_event(list, item);
    else if (has(names_.total_size) && has(names_.blocks))
      take_segment(item);
    else if (has(names_.state) && has(names_.size))
      take_block(list, item);
    else
      return false;
    release(item);
    return true;
  }

  /// With what belongs to it alone. Frames stay: others share them.
  void release(PickleValue item) {
    const auto frames = value_of(item, names_.frames);
    const auto fields = *pickle_.nodes.find(item);
    for (std::size_t i = 1; i < fields.size(); i += 2)
      if (fields[i].is_node() && (fields[i].bits != frames.bits || !frames.is_node())) pickle_.nodes.release(fields[i]);
    pickle_.nodes.release(item);
  }

  [[nodiscard]] std::int64_t size_of(PickleValue value) const {
    return std::clamp<std::int64_t>(value.integer_or(0), 0, kMostDeviceBytes);
  }

  static std::int64_t total(std::int64_t sum, std::int64_t bytes) {
    return std::clamp(sum + bytes, -kMostTotalBytes, kMostTotalBytes);
  }

  void take_event(PickleValue list, PickleValue event) {
    const auto action = value_of(event, names_.action);
    const auto is = [&](NameId name) { return action.is_text(name); };
    Allocation one;
    one.bytes = size_of(value_of(event, names_.size));
    one.address = value_of(event, names_.addr).integer_or(0);
    if (is(names_.alloc)) {
      one.kind = AllocationKind::allocated;
      requested_.erase(one.address);
    } else if (is(names_.free_requested)) {
      // The program has let go of it; where another stream still uses it, the allocator gets it later.
      one.kind = AllocationKind::freed;
      one.bytes = -one.bytes;
      requested_.insert(one.address);
    } else if (is(names_.free_completed)) {
      // Requests before the history, and those that skip_actions left out.
      if (requested_.erase(one.address) > 0) return;
      one.kind = AllocationKind::freed;
      one.bytes = -one.bytes;
    } else if (is(names_.segment_alloc) || is(names_.segment_map)) {
      one.kind = AllocationKind::reserved;
    } else if (is(names_.segment_free) || is(names_.segment_unmap)) {
      one.kind = AllocationKind::reserved;
      one.bytes = -one.bytes;
    } else if (is(names_.oom)) {
      one.kind = AllocationKind::out_of_memory;
      one.address = size_of(value_of(event, names_.device_free));
    } else {
      if (!is(names_.snapshot)) ++other_actions_;
      return;
    }
    has_events_ = true;
    one.time_ns = std::clamp(value_of(event, names_.time_us).integer_or(0), std::int64_t{0}, kMostUs) * 1000;
    one.device = static_cast<std::int32_t>(list.bits);  // until all lists are there
    one.lane = lane_;
    // What freed it is of no use, but its frames take less room once they stand for a place.
    const auto place = frames_.place_of(value_of(event, names_.frames));
    one.place = one.kind == AllocationKind::freed ? 0 : place;
    trace_.allocations.add(one);
  }

  void take_block(PickleValue list, PickleValue block) {
    const auto place = frames_.place_of(value_of(block, names_.frames));
    if (!value_of(block, names_.state).is_text(names_.active_allocated)) return;
    const auto requested = value_of(block, names_.requested_size);
    const auto bytes = size_of(requested.kind == PickleKind::integer ? requested : value_of(block, names_.size));
    blocks_[list.bits].push_back({value_of(block, names_.address).integer_or(0), bytes, place});
  }

  /// Its blocks were taken before it, as those of others, by their lists.
  void take_segment(PickleValue segment) {
    auto& state = states_[static_cast<std::int32_t>(
        std::clamp<std::int64_t>(value_of(segment, names_.device).integer_or(0), 0, kMostDevices))];
    state.reserved_bytes = total(state.reserved_bytes, size_of(value_of(segment, names_.total_size)));
    const auto found = blocks_.find(value_of(segment, names_.blocks).bits);
    if (found == blocks_.end()) return;
    for (const auto& block : found->second) state.allocated_bytes = total(state.allocated_bytes, block.bytes);
    state.blocks.insert(state.blocks.end(), found->second.begin(), found->second.end());
    blocks_.erase(found);
  }

  void finish() {
    const auto& all = trace_.allocations;
    // Events of a device stand together.
    const auto events = all.size();
    const auto first_ns = events == 0 ? 0 : *std::min_element(all.time_ns.begin(), all.time_ns.end());
    for (std::size_t begin = 0; begin < events;) {
      auto end = begin;
      while (end < events && all.device[end] == all.device[begin]) ++end;
      const auto device = all.device[begin];
      auto& state = states_[device];
      const auto start = walk_back(state, begin, end);
      add_held(device, state, begin, end, start);
      states_.erase(device);
      begin = end;
    }
    for (const auto& [device, state] : states_)
      add_held(device, state, events, events, {first_ns, state.allocated_bytes, state.reserved_bytes});
  }

  struct Start {
    std::int64_t time_ns = 0;
    std::int64_t allocated_bytes = 0;
    std::int64_t reserved_bytes = 0;
  };

  /// Totals after each event, from those at the end; what was there before the first.
  Start walk_back(const DeviceState& state, std::size_t begin, std::size_t end) {
    auto& all = trace_.allocations;
    Start at{all.time_ns[begin], state.allocated_bytes, state.reserved_bytes};
    Start least = at;
    for (auto i = end; i-- > begin;) {
      all.allocated_bytes[i] = at.allocated_bytes;
      all.reserved_bytes[i] = at.reserved_bytes;
      if (all.kind[i] == AllocationKind::reserved)
        at.reserved_bytes = total(at.reserved_bytes, -all.bytes[i]);
      else if (all.kind[i] != AllocationKind::out_of_memory)
        at.allocated_bytes = total(at.allocated_bytes, -all.bytes[i]);
      least.allocated_bytes = std::min(least.allocated_bytes, at.allocated_bytes);
      least.reserved_bytes = std::min(least.reserved_bytes, at.reserved_bytes);
    }
    // Less than nothing: the state at the end lacks something, such as memory of another allocator.
    const auto allocated_shift = std::max<std::int64_t>(0, -least.allocated_bytes);
    const auto reserved_shift = std::max<std::int64_t>(0, -least.reserved_bytes);
    if (allocated_shift == 0 && reserved_shift == 0) return at;
    for (auto i = begin; i < end; ++i) {
      all.allocated_bytes[i] += allocated_shift;
      all.reserved_bytes[i] += reserved_shift;
    }
    return {at.time_ns, at.allocated_bytes + allocated_shift, at.reserved_bytes + reserved_shift};
  }

  /// Blocks of the end whose allocation is not among the events.
  void add_held(std::int32_t device, const DeviceState& state, std::size_t begin, std::size_t end, const Start& start) {
    std::unordered_set<std::int64_t> live;
    for (auto i = begin; i < end; ++i) {
      if (trace_.allocations.kind[i] == AllocationKind::allocated) live.insert(trace_.allocations.address[i]);
      if (trace_.allocations.kind[i] == AllocationKind::freed) live.erase(trace_.allocations.address[i]);
    }
    for (const auto& block : state.blocks)
      if (live.find(block.address) == live.end())
        trace_.allocations.add({start.time_ns, block.bytes, block.address, start.allocated_bytes, start.reserved_bytes,
                                device, lane_, block.place, AllocationKind::held});
  }

  static constexpr std::int64_t kMostDevices = 1023;

  Trace& trace_;
  PickleReader pickle_;
  SnapshotFrames frames_;
  Names names_;
  LaneId lane_;
  std::map<std::int64_t, std::vector<Block>> blocks_;  ///< of segments to come, by the numbers of their lists
  std::map<std::int32_t, DeviceState> states_;
  std::unordered_set<std::int64_t> requested_;  ///< addresses whose freeing is not completed; devices share no address
  std::int64_t other_actions_ = 0;
  bool has_events_ = false;
};

}  // namespace

Result<Trace> import_snapshot(const std::string& path) {
  Trace trace;
  RL_TRY(Snapshot(trace).read(path));
  bound_values(trace);
  return trace;
}

}  // namespace ridgeline::trace
