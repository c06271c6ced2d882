// SPDX-License-Identifier: Apache-2.0
#include "trace/import/pickle_values.hpp"

#include <utility>

namespace ridgeline::trace {

PickleValue PickleNodes::make(PickleKind kind) {
  PickleValue value;
  value.kind = kind;
  if (unused_.empty()) {
    value.bits = static_cast<std::int64_t>(nodes_.size());
    nodes_.emplace_back();
    return value;
  }
  value.bits = unused_.back();
  value.generation = nodes_[unused_.back()].generation;
  unused_.pop_back();
  return value;
}

const PickleNodes::Node* PickleNodes::get(PickleValue node) const {
  if (!node.is_node()) return nullptr;
  const auto& found = nodes_[static_cast<std::size_t>(node.bits)];
  return found.generation == node.generation ? &found : nullptr;
}

PickleNodes::Node* PickleNodes::get(PickleValue node) { return const_cast<Node*>(std::as_const(*this).get(node)); }

const std::vector<PickleValue>* PickleNodes::find(PickleValue node) const {
  const auto* found = get(node);
  return found == nullptr ? nullptr : &found->items;
}

void PickleNodes::append(PickleValue node, PickleValue item) {
  auto* found = get(node);
  if (found == nullptr) return;
  found->items.push_back(item);
  ++items_;
}

void PickleNodes::clear(Node& node) {
  items_ -= node.items.size();
  std::vector<PickleValue>().swap(node.items);  // an assignment of {} would keep the memory
}

void PickleNodes::release(PickleValue node) {
  auto* found = get(node);
  if (found == nullptr) return;
  clear(*found);
  found->is_replaced = false;
  ++found->generation;
  unused_.push_back(static_cast<std::uint32_t>(node.bits));
}

void PickleNodes::replace(PickleValue node, std::uint32_t by) {
  auto* found = get(node);
  if (found == nullptr) return;
  clear(*found);
  found->replacement = by;
  found->is_replaced = true;
}

const std::uint32_t* PickleNodes::replacement(PickleValue node) const {
  const auto* found = get(node);
  return found == nullptr || !found->is_replaced ? nullptr : &found->replacement;
}

}  // namespace ridgeline::trace
