// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/import/pickle_reader.hpp"
#include "tracefile/string_table.hpp"

namespace ridgeline::trace {

/// Where in a user's program something was allocated, by the frames that a snapshot has of it. Each list of frames, and
/// each frame, is looked at once and then stands for its place only: millions of events share them.
class SnapshotFrames {
 public:
  /// `places` gets the places.
  SnapshotFrames(PickleReader& pickle, StringTable& places);

  /// "train.py(41): step": the innermost frame of Python that is no file of torch's own. Threads of a backward pass run
  /// none; there it is the node of autograd, "backward: MmBackward0", where frames of C++ were recorded. 0 where there
  /// is neither.
  [[nodiscard]] NameId place_of(PickleValue frames);

 private:
  [[nodiscard]] NameId place_of_frame(PickleValue frame);
  [[nodiscard]] bool is_backward(NameId place) const;

  PickleReader& pickle_;
  StringTable& places_;
  NameId file_;
  NameId line_;
  NameId name_;
};

}  // namespace ridgeline::trace
