// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "schema/message.hpp"
#include "schema/model_description.hpp"
#include "workload/messages.hpp"

namespace ridgeline::workload {

/// A size and where it comes from.
struct DimHint {
  std::int64_t size = 0;
  schema::Message reason;
};

/// Height and width of an image input, with their origin.
struct ImageHint {
  std::int64_t height = 0;
  std::int64_t width = 0;
  messages::DimImageSource source{};
};

/// What the model says of its dynamic dimensions beside their names.
struct ShapeHints {
  std::optional<ImageHint> image;                                ///< from metadata or a known model family
  std::map<std::pair<std::string, std::size_t>, DimHint> known;  ///< by (input, axis), from operators that fix them
  std::set<std::string> unranked;                                ///< inputs that declare no rank
  std::set<std::int64_t> hidden_sizes;                           ///< of the model's recurrent operators
  bool classifies = false;                                       ///< outputs are [batch, classes]
  std::optional<std::int64_t> other_side;                        ///< of an image, instead of the usual one
  std::optional<DimHint> other_length;                           ///< of a sequence, instead of the usual one
};

/// Concrete shapes for every input.
struct ShapeChoice {
  std::vector<schema::ShapeSet> sets;  ///< at least one; each names every tensor input, in the model's order
  std::vector<schema::Message> notes;  ///< one sentence an input that had a dimension guessed
  bool guessed = false;                ///< some dimension came neither from the user nor from the model
};

/// Chooses the dimensions: the user's (`wanted`, one entry a member of the shape mix, each naming any of the inputs),
/// else the size that the same symbolic name has elsewhere in that set, else a hint, else batch = 1 and a guess from
/// name and position.
/// Errors (invalid_argument): an unknown input, one given twice, a wrong rank, a negative or absurd dimension, a
/// mismatch with a fixed dimension.
[[nodiscard]] base::Result<ShapeChoice> choose_shapes(const std::vector<schema::TensorDescription>& inputs,
                                                      const std::vector<schema::ShapeSet>& wanted,
                                                      const ShapeHints& hints);

/// Whether an input is a dense tensor, which has a shape, and no sequence, map or optional.
[[nodiscard]] bool has_tensor_shape(const schema::TensorDescription& input);

}  // namespace ridgeline::workload
