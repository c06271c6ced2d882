// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "loader/chunk_btree.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr unsigned kNodeOverheadBytes = 10;  // signature, version, type, checksum

/// Bytes that a number up to `most` is written in.
unsigned bytes_for(std::uint64_t most) {
  return static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(most, 1)) + 7) / 8;
}

class Tree2 {
 public:
  Tree2(const IndexFile& file, ChunkTable& table) : file_(file), table_(table), steps_(table.axes()) {}

  Result<void> read(std::uint64_t address);

 private:
  struct Node {
    std::uint64_t address = ChunkEntry::kMissing;
    std::uint64_t records = 0;  ///< in the node itself
  };
  /// How the nodes of one level are written; level 0 are the leaves.
  struct Level {
    std::uint64_t most_records = 0;        ///< in a node
    std::uint64_t most_records_below = 0;  ///< in a node and all below it
    unsigned pointer_bytes = 0;
  };
  Result<void> describe_levels(std::uint64_t node_bytes, std::uint64_t depth);
  Result<void> read_node(const Node& node, std::size_t level);
  Result<void> put_record(FieldReader& in);

  const IndexFile& file_;
  ChunkTable& table_;
  std::vector<std::uint64_t> steps_;
  std::vector<Level> levels_;
  std::uint64_t type_ = 0;
  unsigned record_bytes_ = 0;
  unsigned size_bytes_ = 0;  ///< of a stored size; 0 without filters
  std::uint64_t nodes_ = 0;
};

Result<void> Tree2::read(std::uint64_t address) {
  constexpr unsigned kPlain = 10;
  constexpr unsigned kFiltered = 11;
  constexpr unsigned kMaskBytes = 4;
  const unsigned width = file_.address_bytes();
  RL_TRY_ASSIGN(const auto head,
                file_.read_checked(address, 18 + width + file_.length_bytes(), "the header of a version 2 B-tree"));
  FieldReader in(head);
  if (!in.signature("BTHD")) return fail(ErrorCode::corrupt, "no version 2 B-tree at {}", address);
  if (const auto version = in.number(1); version != 0)
    return fail(ErrorCode::unsupported, "a version 2 B-tree of revision {}", version);
  type_ = in.number(1);
  const auto node_bytes = in.number(4);
  record_bytes_ = static_cast<unsigned>(in.number(2));
  const auto depth = in.number(2);
  in.skip(2);  // when to split and merge
  Node root;
  root.address = in.address(width);
  root.records = in.number(2);
  const auto plain_bytes = width + 8 * static_cast<unsigned>(steps_.size());
  if (type_ == kFiltered && record_bytes_ > plain_bytes + kMaskBytes && record_bytes_ <= plain_bytes + kMaskBytes + 8)
    size_bytes_ = record_bytes_ - plain_bytes - kMaskBytes;
  else if (type_ != kPlain || record_bytes_ != plain_bytes)
    return fail(ErrorCode::corrupt, "a chunk B-tree of type {} with records of {} bytes", type_, record_bytes_);
  if (root.address == ChunkEntry::kMissing) return {};
  RL_TRY(describe_levels(node_bytes, depth));
  return read_node(root, static_cast<std::size_t>(depth));
}

/// A pointer to a node holds its address, its number of records and, above the lowest inner nodes, that of all below
/// it, each number in no more bytes than the greatest possible one takes.
Result<void> Tree2::describe_levels(std::uint64_t node_bytes, std::uint64_t depth) {
  constexpr std::uint64_t kMostDepth = 32;
  constexpr std::uint64_t kEnough = std::uint64_t{1} << 62U;
  const auto impossible = [&] {
    return fail(ErrorCode::corrupt, "a chunk B-tree {} levels deep of nodes of {} bytes", depth, node_bytes);
  };
  if (node_bytes < kNodeOverheadBytes + record_bytes_ || depth > kMostDepth) return impossible();
  Level leaf;
  leaf.most_records = leaf.most_records_below = (node_bytes - kNodeOverheadBytes) / record_bytes_;
  levels_ = {leaf};
  for (std::uint64_t i = 1; i <= depth; ++i) {
    const auto& below = levels_.back();
    Level level;
    level.pointer_bytes =
        file_.address_bytes() + bytes_for(leaf.most_records) + (i > 1 ? bytes_for(below.most_records_below) : 0);
    if (node_bytes < kNodeOverheadBytes + level.pointer_bytes + record_bytes_) return impossible();
    level.most_records =
        (node_bytes - kNodeOverheadBytes - level.pointer_bytes) / (record_bytes_ + level.pointer_bytes);
    if (level.most_records == 0 || below.most_records_below > kEnough / (level.most_records + 1) - 1)
      return impossible();
    level.most_records_below = (level.most_records + 1) * below.most_records_below + level.most_records;
    levels_.push_back(level);
  }
  return {};
}

Result<void> Tree2::put_record(FieldReader& in) {
  const auto address = in.address(file_.address_bytes());
  const auto bytes = size_bytes_ == 0 ? table_.layout().chunk_bytes() : in.number(size_bytes_);
  const auto mask = size_bytes_ == 0 ? 0 : static_cast<std::uint32_t>(in.number(4));
  for (auto& step : steps_) step = in.number(8);
  RL_TRY_ASSIGN(const auto place, table_.place_of(steps_));
  return table_.put_next(place, address, bytes, mask);
}

Result<void> Tree2::read_node(const Node& node, std::size_t level) {
  // Each node holds a record of its own, and no record comes twice; some room for what deletions left behind.
  if (++nodes_ > 2 * table_.size() + 64) return fail(ErrorCode::corrupt, "the chunk B-tree goes round in circles");
  const auto& form = levels_[level];
  if (node.records > form.most_records)
    return fail(ErrorCode::corrupt, "a chunk B-tree node of {} records at {}, expected at most {}", node.records,
                node.address, form.most_records);
  const auto pointers = level == 0 ? 0 : node.records + 1;
  RL_TRY_ASSIGN(const auto data,
                file_.read_checked(
                    node.address, kNodeOverheadBytes - 4 + node.records * record_bytes_ + pointers * form.pointer_bytes,
                    "a node of a chunk B-tree"));
  FieldReader in(data);
  if (!in.signature(level == 0 ? "BTLF" : "BTIN") || in.number(1) != 0 || in.number(1) != type_)
    return fail(ErrorCode::corrupt, "no chunk B-tree node of level {} at {}", level, node.address);
  FieldReader children(in.rest());
  children.skip(static_cast<std::size_t>(node.records * record_bytes_));
  for (std::uint64_t i = 0; i <= node.records; ++i) {
    if (level > 0) {
      Node child;
      const auto count_bytes = bytes_for(levels_.front().most_records);
      child.address = children.address(file_.address_bytes());
      child.records = children.number(count_bytes);
      children.skip(form.pointer_bytes - file_.address_bytes() - count_bytes);
      RL_TRY(read_node(child, level - 1));
    }
    if (i < node.records) RL_TRY(put_record(in));
  }
  return in.good() && children.good() ? Result<void>{}
                                      : fail(ErrorCode::corrupt, "a chunk B-tree node that is cut off");
}

}  // namespace

Result<void> read_btree_2(const IndexFile& file, std::uint64_t address, ChunkTable& table) {
  return Tree2(file, table).read(address);
}

}  // namespace ridgeline::loader
