// SPDX-License-Identifier: Apache-2.0
#include "loader/chunk_btree.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

class Tree1 {
 public:
  Tree1(const IndexFile& file, ChunkTable& table) : file_(file), table_(table), steps_(table.axes()) {}
  Result<void> read(std::uint64_t address, unsigned expected_level, bool is_root);

 private:
  Result<void> leaf_entry(FieldReader& in, std::uint64_t bytes, std::uint32_t mask);

  const IndexFile& file_;
  ChunkTable& table_;
  std::vector<std::uint64_t> steps_;
  std::uint64_t nodes_ = 0;
};

/// One (key, child) pair of a leaf: the chunk's offset in elements, one number an axis and one for the element's bytes.
Result<void> Tree1::leaf_entry(FieldReader& in, std::uint64_t bytes, std::uint32_t mask) {
  for (std::size_t axis = 0; axis < steps_.size(); ++axis) {
    const auto offset = in.number(8);
    const auto extent = table_.layout().chunk_shape[axis];
    if (offset % extent != 0)
      return fail(ErrorCode::corrupt, "a chunk at offset {} of axis {}, outside the grid", offset, axis);
    steps_[axis] = offset / extent;
  }
  in.skip(8);
  const auto address = in.address(file_.address_bytes());
  RL_TRY_ASSIGN(const auto place, table_.place_of(steps_));
  return table_.put_next(place, address, bytes, mask);
}

Result<void> Tree1::read(std::uint64_t address, unsigned expected_level, bool is_root) {
  constexpr unsigned kChunkNode = 1;
  // A node holds at least one chunk below it; twice that and some leaves room for what deletions left behind.
  if (++nodes_ > 2 * table_.size() + 64) return fail(ErrorCode::corrupt, "the chunk B-tree goes round in circles");
  const unsigned width = file_.address_bytes();
  RL_TRY_ASSIGN(const auto head, file_.read(address, 8 + 2 * width, "a chunk index node"));
  FieldReader fields(head);
  if (!fields.signature("TREE") || fields.number(1) != kChunkNode)
    return fail(ErrorCode::corrupt, "no chunk B-tree node at {}", address);
  const auto level = static_cast<unsigned>(fields.number(1));
  const auto used = fields.number(2);
  if (!is_root && level != expected_level)
    return fail(ErrorCode::corrupt, "a chunk B-tree node of level {} at {}, expected {}", level, address,
                expected_level);
  const auto key_bytes = 8 + 8 * (steps_.size() + 1);
  RL_TRY_ASSIGN(const auto body, file_.read(address + head.size(), used * (key_bytes + width), "a chunk index node"));
  FieldReader in(body);
  for (std::uint64_t i = 0; i < used; ++i) {
    const auto bytes = in.number(4);
    const auto mask = static_cast<std::uint32_t>(in.number(4));
    if (level == 0) {
      RL_TRY(leaf_entry(in, bytes, mask));
      continue;
    }
    in.skip(8 * (steps_.size() + 1));
    RL_TRY(read(in.address(width), level - 1, false));
  }
  return {};
}

}  // namespace

Result<void> read_btree_1(const IndexFile& file, std::uint64_t address, ChunkTable& table) {
  return Tree1(file, table).read(address, 0, true);
}

}  // namespace ridgeline::loader
