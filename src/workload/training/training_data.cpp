// SPDX-License-Identifier: Apache-2.0
#include "workload/training/training_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.hpp"
#include "loader/data_file.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using loader::ElementKind;

constexpr std::array kInputNames{"x", "input", "inputs", "images", "image", "data", "features", "X"};
constexpr std::array kLabelNames{"y", "label", "labels", "target", "targets"};
constexpr std::uint64_t kReadWhole = std::uint64_t{256} << 20U;
constexpr std::uint64_t kSpotChecks = 512;
constexpr std::uint64_t kRowsAtOnce = 4096;

std::string option(const std::map<std::string, std::string>& options, const std::string& name) {
  const auto found = options.find(name);
  return found == options.end() ? "" : found->second;
}

/// "train/" of "train/x".
std::string group_of(const std::string& dataset) { return dataset.substr(0, dataset.rfind('/') + 1); }

/// With the way to name another dataset, where the error is about the name.
base::Error with_option(base::Error error, const char* name_of_option) {
  if (error.code == ErrorCode::not_found || error.code == ErrorCode::invalid_argument)
    error.hint = fmt::format("name one with --option {}=NAME", name_of_option);
  return error;
}

/// The named dataset, or the first usual name that is there, in one of the groups; "" when none is and `needed` is
/// false.
template <typename Names>
Result<std::string> choose(const loader::DataFile& file, const std::string& named, const Names& usual, bool needed,
                           const char* name_of_option, const std::vector<std::string>& groups) {
  const auto cache = loader::LayoutCache::of_user();
  if (!named.empty()) {
    auto layout = loader::read_layout(file, named, cache);
    if (layout) return named;
    return tl::unexpected<base::Error>(with_option(std::move(layout).error(), name_of_option));
  }
  std::optional<base::Error> first;
  for (const auto& group : groups)
    for (const char* name : usual) {
      auto layout = loader::read_layout(file, group + name, cache);
      if (layout) return group + name;
      if (layout.error().code != ErrorCode::not_found)
        return tl::unexpected<base::Error>(with_option(std::move(layout).error(), name_of_option));
      if (!first) first = std::move(layout).error();
    }
  if (!needed) return std::string{};
  return tl::unexpected<base::Error>(with_option(std::move(*first), name_of_option));
}

template <typename T>
T element(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool finite(const std::byte* at, std::uint32_t size) {
  constexpr std::uint16_t kHalfExponent = 0x7c00;
  if (size == 2) return (element<std::uint16_t>(at) & kHalfExponent) != kHalfExponent;
  return size == 4 ? std::isfinite(element<float>(at)) : std::isfinite(element<double>(at));
}

std::int64_t integer(const std::byte* at, const loader::ElementType& type) {
  const bool is_signed = type.kind == ElementKind::signed_integer;
  switch (type.size) {
    case 1: return is_signed ? element<std::int8_t>(at) : element<std::uint8_t>(at);
    case 2: return is_signed ? element<std::int16_t>(at) : element<std::uint16_t>(at);
    case 4: return is_signed ? element<std::int32_t>(at) : element<std::uint32_t>(at);
    default: return element<std::int64_t>(at);
  }
}

/// Goes through rows of one dataset.
class Inspection {
 public:
  static Result<Inspection> open(const TrainingData& data, const std::string& dataset) {
    loader::LoaderOptions options;
    options.datasets = {dataset};
    options.sampler.order = loader::SampleOrder::sequential;
    options.batch_size = kRowsAtOnce;
    RL_TRY_ASSIGN(auto whole, loader::Loader::open(data.path, options, std::make_shared<loader::HostAllocator>()));
    const auto& layout = whole->layout(0);
    Inspection out(std::move(whole), data.path, dataset);
    out.type_ = layout.element;
    out.rows_ = layout.rows();
    out.row_elements_ = layout.row_elements();
    return out;
  }
  [[nodiscard]] const loader::ElementType& type() const noexcept { return type_; }
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t row_elements() const noexcept { return row_elements_; }

  /// Calls check(element, sample) for each element until it gives an error. All rows, or rows spread over the file.
  template <typename Check>
  Result<void> each(bool spread, const Check& check) {
    std::vector<std::uint64_t> places;
    if (spread) {
      for (std::uint64_t i = 0; i < kSpotChecks; ++i) places.push_back(i * rows_ / kSpotChecks);
      loader::LoaderOptions options;
      options.datasets = {dataset_};
      options.batch_size = 1;
      options.sampler.order = loader::SampleOrder::given;
      options.sampler.given = places;
      RL_TRY_ASSIGN(loader_, loader::Loader::open(path_, options, std::make_shared<loader::HostAllocator>()));
    }
    RL_TRY(loader_->start_epoch(0));
    std::uint64_t row = 0;
    while (true) {
      RL_TRY_ASSIGN(const auto batch, loader_->next());
      if (!batch) return {};
      const auto data = batch->data(0);
      const auto row_bytes = row_elements_ * type_.size;
      for (std::uint64_t i = 0; i < batch->samples(); ++i, ++row)
        for (std::uint64_t at = i * row_bytes; at < (i + 1) * row_bytes; at += type_.size)
          RL_TRY(check(data.data() + at, spread ? places[row] : row));
    }
  }
  [[nodiscard]] Result<void> check_has_values() const {
    if (rows_ > 0 && row_elements_ > 0) return {};
    return fail(ErrorCode::invalid_argument, "{} has no {} (shape {})", what(), rows_ == 0 ? "samples" : "values",
                fmt::join(loader_->layout(0).shape, " x "))
        .hint("name a dataset that was written to with --option input_dataset=NAME");
  }
  [[nodiscard]] std::vector<std::string> notes() const { return loader_->notes(); }
  [[nodiscard]] std::string what() const { return fmt::format("{}: dataset \"{}\"", path_, dataset_); }

 private:
  Inspection(std::unique_ptr<loader::Loader> whole, std::string path, std::string dataset)
      : loader_(std::move(whole)), path_(std::move(path)), dataset_(std::move(dataset)) {}
  std::unique_ptr<loader::Loader> loader_;
  std::string path_;
  std::string dataset_;
  loader::ElementType type_;
  std::uint64_t rows_ = 0;
  std::uint64_t row_elements_ = 0;
};

Result<void> check_finite(Inspection& inspection, bool spread) {
  return inspection.each(spread, [&](const std::byte* at, std::uint64_t sample) -> Result<void> {
    if (finite(at, inspection.type().size)) return {};
    return fail(ErrorCode::invalid_argument,
                "{}: sample {} holds a number that is not finite (NaN or infinity), no training survives it",
                inspection.what(), sample)
        .hint("fix the data");
  });
}

}  // namespace

const std::vector<std::string>& data_option_names() {
  static const std::vector<std::string> names{"input_dataset", "label_dataset", "order", "cache_mb"};
  return names;
}

Result<TrainingData> choose_training_data(const std::string& path, const std::map<std::string, std::string>& options) {
  TrainingData data;
  data.path = path;
  if (const auto order = option(options, "order"); !order.empty()) {
    const auto known = base::enum_from_name<loader::SampleOrder>(order);
    if (!known || *known == loader::SampleOrder::given)
      return fail(ErrorCode::invalid_argument, "option order={}: expected shuffled, shuffled_chunks or sequential",
                  order);
    data.order = *known;
  }
  if (const auto text = option(options, "cache_mb"); !text.empty()) {
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    const auto value = base::parse_integer(text, "option cache_mb");
    if (!value || *value < 0 || *value > kMost)
      return fail(ErrorCode::invalid_argument, "option cache_mb={}: expected whole megabytes from 0", text);
    data.cache_bytes = static_cast<std::uint64_t>(*value) * 1'000'000;
  }
  RL_TRY_ASSIGN(const auto file, loader::DataFile::open(path));
  RL_TRY_ASSIGN(data.input, choose(file, option(options, "input_dataset"), kInputNames, true, "input_dataset", {""}));
  // Labels of train/x lie in train as well, or at the root.
  std::vector<std::string> groups{group_of(data.input)};
  if (!groups.front().empty()) groups.emplace_back();
  RL_TRY_ASSIGN(data.label,
                choose(file, option(options, "label_dataset"), kLabelNames, false, "label_dataset", groups));
  return data;
}

Result<DataCensus> inspect_training_data(const TrainingData& data) {
  DataCensus census;
  {
    RL_TRY_ASSIGN(auto inputs, Inspection::open(data, data.input));
    census.samples = inputs.rows();
    census.notes = inputs.notes();
    RL_TRY(inputs.check_has_values());
    const auto bytes = inputs.rows() * inputs.row_elements() * inputs.type().size;
    const bool spread = bytes > kReadWhole && inputs.rows() > kSpotChecks;
    if (inputs.type().kind == ElementKind::floating) RL_TRY(check_finite(inputs, spread));
  }
  if (data.label.empty()) return census;
  RL_TRY_ASSIGN(auto labels, Inspection::open(data, data.label));
  for (auto& note : labels.notes()) census.notes.push_back(std::move(note));
  if (labels.rows() != census.samples)
    return fail(ErrorCode::invalid_argument,
                "{}: dataset \"{}\" has {} samples and \"{}\" {} labels; expected equally many", data.path, data.input,
                census.samples, data.label, labels.rows());
  if (labels.type().kind == ElementKind::floating) {
    RL_TRY(check_finite(labels, labels.rows() * labels.row_elements() * labels.type().size > kReadWhole));
  } else if (labels.type().kind != ElementKind::opaque && labels.row_elements() == 1) {
    std::int64_t largest = 0;
    RL_TRY(labels.each(false, [&](const std::byte* at, std::uint64_t sample) -> Result<void> {
      const auto label = integer(at, labels.type());
      if (label < 0)
        return fail(ErrorCode::invalid_argument, "{}: sample {} has class {}; expected 0 or more", labels.what(),
                    sample, label);
      largest = std::max(largest, label);
      return {};
    }));
    census.classes = std::max<std::int64_t>(2, largest + 1);
  }
  return census;
}

}  // namespace ridgeline::workload
