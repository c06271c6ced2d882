// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "workload/element_type.hpp"
#include "workload/output_spread.hpp"
#include "workload/real_values.hpp"
#include "workload/workload.hpp"

namespace ridgeline::workload {
namespace {

using schema::OutputError;

// A relative error is taken against at least this share of the output's largest magnitude: near zero, rounding in the
// last digit of a cancelled sum would otherwise count as a relative error of one or more.
constexpr double kRelativeFloor = 1e-3;

// Labels, indices, masks and text: an index that is off by one is as wrong as one that is off by a thousand, so the
// distance of an output is the share of its elements that differ.
bool is_exact_type(const std::string& name) {
  const auto type = element_type_from_name(name);
  if (!type) return true;
  switch (*type) {
    case ElementType::float32:
    case ElementType::float64:
    case ElementType::float16:
    case ElementType::bfloat16:
    case ElementType::complex64:
    case ElementType::complex128: return false;
    default: return true;
  }
}

// An output that stays near zero for the inputs at hand (a detector that finds nothing) holds little but the rounding
// errors of larger numbers that cancelled, so its errors are compared with a floor instead of its own magnitude.
double scale_floor(const std::string& element_type) {
  return element_type == "float16" || element_type == "bfloat16" ? 1e-2 : 1e-3;
}

/// What one output adds to the output error.
struct OneOutputError {
  double max_abs = 0;
  double max_rel = 0;
  double scaled = 0;
  double cosine = 1;
};

double cosine_of(double dot, double norm_a, double norm_b) {
  if (norm_a == 0 && norm_b == 0) return 1;
  if (norm_a == 0 || norm_b == 0) return 0;
  return std::clamp(dot / (std::sqrt(norm_a) * std::sqrt(norm_b)), -1.0, 1.0);
}

double largest_finite(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

OneOutputError compare_reals(const std::vector<double>& reference, const std::vector<double>& candidate, double floor,
                             OutputError& output_error) {
  const double largest = largest_finite(reference);
  const double scale = std::max(largest, floor);
  OneOutputError output;
  double dot = 0;
  double norm_reference = 0;
  double norm_candidate = 0;
  for (std::size_t at = 0; at < reference.size(); ++at) {
    const double b = reference[at];
    const double a = candidate[at];
    if (!std::isfinite(a)) ++output_error.nonfinite;
    if (!std::isfinite(a) || !std::isfinite(b)) {
      const bool same = (std::isnan(a) && std::isnan(b)) || a == b;
      if (!same) ++output_error.nan_mismatches;
      continue;
    }
    const double distance = std::abs(a - b);
    output.max_abs = std::max(output.max_abs, distance);
    output.max_rel = std::max(output.max_rel, distance / std::max(std::abs(b), kRelativeFloor * scale));
    // Divided first, so that squares of values near the largest double stay finite.
    dot += (a / scale) * (b / scale);
    norm_reference += (b / scale) * (b / scale);
    norm_candidate += (a / scale) * (a / scale);
  }
  output.scaled = output.max_abs / scale;
  if (largest >= floor || largest_finite(candidate) >= floor)
    output.cosine = cosine_of(dot, norm_reference, norm_candidate);
  if (largest < floor && !reference.empty()) ++output_error.tiny_outputs;
  return output;
}

std::vector<std::string> text_elements(const std::string& bytes) {
  std::vector<std::string> elements;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto end = std::min(bytes.find('\0', at), bytes.size());
    elements.push_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return elements;
}

template <typename T>
double mismatch_share(const T& reference, const T& candidate) {
  if (reference.size() != candidate.size()) return 1;
  if (reference.empty()) return 0;
  std::size_t different = 0;
  for (std::size_t at = 0; at < reference.size(); ++at) different += reference[at] == candidate[at] ? 0 : 1;
  return static_cast<double>(different) / static_cast<double>(reference.size());
}

OneOutputError compare_exact(const NamedTensor& reference, const NamedTensor& candidate) {
  OneOutputError output;
  double share = 0;
  if (reference.element_type == "string") {
    share = mismatch_share(text_elements(reference.bytes), text_elements(candidate.bytes));
  } else {
    const auto bits = element_bits(element_type_from_name(reference.element_type).value_or(ElementType::uint8));
    const auto width = static_cast<std::size_t>(std::max(1, bits / 8));
    std::size_t different = 0;
    const auto elements = reference.bytes.size() / width;
    for (std::size_t at = 0; at < elements; ++at)
      different +=
          std::memcmp(reference.bytes.data() + at * width, candidate.bytes.data() + at * width, width) == 0 ? 0 : 1;
    share = elements == 0 ? 0 : static_cast<double>(different) / static_cast<double>(elements);
    const auto a = real_values(candidate);
    const auto b = real_values(reference);
    for (std::size_t at = 0; at < b.size(); ++at) output.max_abs = std::max(output.max_abs, std::abs(a[at] - b[at]));
  }
  output.max_rel = share;
  output.scaled = share;
  return output;
}

bool is_complex_type(const std::string& name) {
  const auto type = element_type_from_name(name);
  return type == ElementType::complex64 || type == ElementType::complex128;
}

/// Of one type, or both of real numbers: a setting may change how exact an output is, not what it is.
bool same_kind(const std::string& a, const std::string& b) {
  return a == b || (!is_exact_type(a) && !is_exact_type(b) && is_complex_type(a) == is_complex_type(b));
}

std::int64_t element_count_of(const NamedTensor& tensor) {
  const auto count = element_count(tensor.dims);
  return count ? *count : 0;
}

bool same_form(const NamedTensor& a, const NamedTensor& b) {
  if (a.name != b.name || !same_kind(a.element_type, b.element_type) || a.dims != b.dims) return false;
  if (a.element_type == b.element_type) return a.bytes.size() == b.bytes.size() || a.element_type == "string";
  return real_values(a).size() == real_values(b).size();
}

OneOutputError compare_one(const NamedTensor& reference, const NamedTensor& candidate, OutputError& output_error) {
  return is_exact_type(reference.element_type) ? compare_exact(reference, candidate)
                                               : compare_reals(real_values(reference), real_values(candidate),
                                                               scale_floor(reference.element_type), output_error);
}

/// Of an output that is judged by its spread.
bool form_suits(const NamedTensor& reference, const NamedTensor& candidate) {
  if (!reference.spread->centre.empty()) return same_form(reference, candidate);
  return reference.name == candidate.name && same_kind(reference.element_type, candidate.element_type);
}

std::int64_t nonfinite_of(const NamedTensor& tensor) {
  if (is_exact_type(tensor.element_type)) return 0;
  const auto values = real_values(tensor);
  return std::count_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
}

/// What no order of additions comes to: as scaled error, or as share of elements.
double rounding_limit(const std::string& element_type) {
  if (element_type == "float16") return 1e-2;
  return element_type == "bfloat16" ? 5e-2 : 1e-3;
}

}  // namespace

std::vector<std::size_t> varying_outputs(const OutputSet& first, const OutputSet& second) {
  std::vector<std::size_t> varying;
  for (std::size_t at = 0; at < std::min(first.size(), second.size()); ++at) {
    OutputError ignored;
    const auto& tensor = first[at];
    if (!same_form(tensor, second[at]) ||
        !(compare_one(tensor, second[at], ignored).scaled <= rounding_limit(tensor.element_type)))
      varying.push_back(at);
  }
  return varying;
}

OutputSet repeat_rows(const OutputSet& outputs, std::int64_t rows) {
  auto repeated = outputs;
  for (auto& tensor : repeated) {
    if (tensor.dims.empty() || tensor.dims[0] <= 0 || rows < 0) continue;
    const auto whole = std::exchange(tensor.bytes, {});
    const auto row = whole.size() / static_cast<std::size_t>(tensor.dims[0]);
    const auto size = row * static_cast<std::size_t>(rows);
    if (tensor.spread) repeat_spread(*tensor.spread, static_cast<double>(rows) / static_cast<double>(tensor.dims[0]));
    while (tensor.bytes.size() < size) tensor.bytes.append(whole, 0, size - tensor.bytes.size());
    tensor.dims[0] = rows;
  }
  return repeated;
}

OutputError compare_outputs(const OutputSet& reference, const OutputSet& candidate) {
  OutputError output_error;
  const auto pairs = std::min(reference.size(), candidate.size());
  if (reference.size() != candidate.size()) {
    output_error.shape_mismatch = true;
    output_error.worst_output = (reference.size() > pairs ? reference : candidate)[pairs].name;
  }
  for (std::size_t at = 0; at < pairs; ++at) {
    const auto& b = reference[at];
    const auto& a = candidate[at];
    output_error.elements += element_count_of(a);
    if (!(b.spread ? form_suits(b, a) : same_form(b, a))) {
      if (!output_error.shape_mismatch) output_error.worst_output = b.name;
      output_error.shape_mismatch = true;
      continue;
    }
    const auto mismatches_before = output_error.nan_mismatches;
    if (b.spread) {
      const auto nonfinite = nonfinite_of(a);
      output_error.nonfinite += nonfinite;
      output_error.nan_mismatches += nonfinite;
      if (nonfinite > 0 && mismatches_before == 0 && !output_error.shape_mismatch) output_error.worst_output = b.name;
      continue;
    }
    const auto output = compare_one(b, a, output_error);
    const bool first = output_error.worst_output.empty();
    const bool worse = output.scaled > output_error.scaled_max_abs ||
                       (output_error.nan_mismatches > mismatches_before && mismatches_before == 0);
    if (!output_error.shape_mismatch && (worse || first)) output_error.worst_output = b.name;
    output_error.max_abs = std::max(output_error.max_abs, output.max_abs);
    output_error.max_rel = std::max(output_error.max_rel, output.max_rel);
    output_error.scaled_max_abs = std::max(output_error.scaled_max_abs, output.scaled);
    output_error.cosine = std::min(output_error.cosine, output.cosine);
  }
  return output_error;
}

}  // namespace ridgeline::workload
