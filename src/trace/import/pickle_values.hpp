// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "tracefile/string_table.hpp"

namespace ridgeline::trace {

enum class PickleKind : std::uint8_t { none, boolean, integer, number, text, list, dictionary };

/// A value of a pickle. Lists, tuples and sets are lists; they and dictionaries lie in PickleNodes.
struct PickleValue {
  PickleKind kind = PickleKind::none;
  std::uint32_t generation = 0;  ///< of a list or dictionary
  std::int64_t bits = 0;         ///< the number itself, a double's bits, a NameId, the number of a node

  [[nodiscard]] bool is_node() const noexcept { return kind == PickleKind::list || kind == PickleKind::dictionary; }
  [[nodiscard]] bool is_text(NameId text) const noexcept {
    return kind == PickleKind::text && bits == static_cast<std::int64_t>(text);
  }
  [[nodiscard]] std::int64_t integer_or(std::int64_t other) const noexcept {
    return kind == PickleKind::integer ? bits : other;
  }
  [[nodiscard]] double real() const noexcept { return std::bit_cast<double>(bits); }
};

/// Lists and dictionaries of a pickle, side by side: they may contain themselves, and nothing recurs when they go. What
/// is released is used again; values that still name it find nothing.
class PickleNodes {
 public:
  [[nodiscard]] PickleValue make(PickleKind kind);
  /// What a list has; of a dictionary keys and values in turn. nullptr: it is no such value, or was released.
  [[nodiscard]] const std::vector<PickleValue>* find(PickleValue node) const;
  /// Nothing where the node was released.
  void append(PickleValue node, PickleValue item);
  void release(PickleValue node);

  /// Puts a number in the place of what a node has: of something that many others refer to, only that is needed.
  void replace(PickleValue node, std::uint32_t by);
  /// That number; nullptr where there is none.
  [[nodiscard]] const std::uint32_t* replacement(PickleValue node) const;

  [[nodiscard]] std::size_t bytes() const noexcept {
    return nodes_.size() * sizeof(Node) + items_ * sizeof(PickleValue);
  }

 private:
  struct Node {
    std::vector<PickleValue> items;
    std::uint32_t generation = 0;
    std::uint32_t replacement = 0;
    bool is_replaced = false;
  };
  [[nodiscard]] const Node* get(PickleValue node) const;
  [[nodiscard]] Node* get(PickleValue node);
  void clear(Node& node);

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> unused_;
  std::size_t items_ = 0;  ///< of all nodes
};

}  // namespace ridgeline::trace
