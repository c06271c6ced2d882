// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/npy_file.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.hpp"
#include "base/text.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;  // of the data, for readers that map the file

struct Dtype {
  std::string_view text;  // without the byte-order mark
  ElementType type;
};
constexpr Dtype kDtypes[] = {
    {"f2", ElementType::float16},  {"f4", ElementType::float32},   {"f8", ElementType::float64},
    {"b1", ElementType::boolean},  {"u1", ElementType::uint8},     {"u2", ElementType::uint16},
    {"u4", ElementType::uint32},   {"u8", ElementType::uint64},    {"i1", ElementType::int8},
    {"i2", ElementType::int16},    {"i4", ElementType::int32},     {"i8", ElementType::int64},
    {"V2", ElementType::bfloat16}, {"c8", ElementType::complex64}, {"c16", ElementType::complex128},
};

// The header is a Python dict literal with three known keys; the value of one is the text from after its colon.
base::Result<std::string_view> value_of(std::string_view header, std::string_view key, std::string_view what) {
  for (const char quote : {'\'', '"'}) {
    const auto quoted = fmt::format("{0}{1}{0}", quote, key);
    const auto at = header.find(quoted);
    if (at == std::string_view::npos) continue;
    auto rest = header.substr(at + quoted.size());
    const auto colon = rest.find_first_not_of(" \t");
    if (colon == std::string_view::npos || rest[colon] != ':') break;
    return base::trim(rest.substr(colon + 1));
  }
  return base::fail(ErrorCode::corrupt, "{}: the .npy header has no \"{}\"", what, key);
}

base::Result<ElementType> parse_dtype(std::string_view value, std::string_view what) {
  if (value.empty() || (value[0] != '\'' && value[0] != '"'))
    return base::fail(ErrorCode::unsupported, "{}: structured element types are not supported", what)
        .hint("save one plain array");
  const auto end = value.find(value[0], 1);
  if (end == std::string_view::npos || end < 3)
    return base::fail(ErrorCode::corrupt, "{}: the .npy header has a broken element type", what);
  const auto text = value.substr(1, end - 1);
  if (text[0] == '>' && text.substr(2) != "1")
    return base::fail(ErrorCode::unsupported, "{}: big-endian elements ({})", what, text)
        .hint("save it with array.astype(array.dtype.newbyteorder('<'))");
  const auto bare = text[0] == '<' || text[0] == '|' || text[0] == '=' || text[0] == '>' ? text.substr(1) : text;
  for (const auto& row : kDtypes)
    if (row.text == bare) return row.type;
  return base::fail(ErrorCode::unsupported,
                    "{}: element type \"{}\" is not supported: expected a bool, integer, float or complex array", what,
                    text);
}

base::Result<std::vector<std::int64_t>> parse_shape(std::string_view value, std::string_view what) {
  const auto end = value.find(')');
  if (value.empty() || value[0] != '(' || end == std::string_view::npos)
    return base::fail(ErrorCode::corrupt, "{}: the .npy header has a broken shape", what);
  std::vector<std::int64_t> dims;
  for (const auto& part : base::split(value.substr(1, end - 1), ',')) {
    const auto digits = base::trim(part);
    if (digits.empty()) continue;
    const auto dim = base::parse_integer(digits, "dimension");
    if (!dim || *dim < 0)
      return base::fail(ErrorCode::corrupt, "{}: the .npy header has the dimension \"{}\"", what, digits);
    dims.push_back(*dim);
  }
  return dims;
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (auto at = bytes.size(); at > 0; --at) value = value << 8U | static_cast<unsigned char>(bytes[at - 1]);
  return value;
}

}  // namespace

base::Result<Tensor> parse_npy(std::string_view bytes, std::string_view what) {
  if (bytes.substr(0, kNpyMagic.size()) != kNpyMagic || bytes.size() < 10)
    return base::fail(ErrorCode::corrupt, "{}: not a .npy file: expected one written by numpy.save", what);
  const int major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3)
    return base::fail(ErrorCode::unsupported, "{}: .npy format version {} is not known: expected 1, 2 or 3", what,
                      major);
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t header_start = 8 + length_bytes;
  if (bytes.size() < header_start)
    return base::fail(ErrorCode::corrupt, "{}: the .npy header is cut off", what)
        .hint("write it again with numpy.save");
  const auto header_size = little_endian(bytes.substr(8, length_bytes));
  if (header_size > bytes.size() - header_start)
    return base::fail(ErrorCode::corrupt, "{}: the .npy header is cut off", what)
        .hint("write it again with numpy.save");
  const auto header = bytes.substr(header_start, header_size);
  const auto data = bytes.substr(header_start + header_size);

  Tensor tensor;
  RL_TRY_ASSIGN(const auto dtype, value_of(header, "descr", what));
  RL_TRY_ASSIGN(tensor.type, parse_dtype(dtype, what));
  RL_TRY_ASSIGN(const auto order, value_of(header, "fortran_order", what));
  RL_TRY_ASSIGN(const auto shape, value_of(header, "shape", what));
  RL_TRY_ASSIGN(tensor.dims, parse_shape(shape, what));
  if (order.substr(0, 4) == "True" && tensor.dims.size() > 1)
    return base::fail(ErrorCode::unsupported, "{}: Fortran order", what)
        .hint("save it with numpy.ascontiguousarray(array)");
  const auto expected = tensor_bytes(tensor.type, tensor.dims);
  if (!expected) return tl::unexpected<base::Error>(base::Error(expected.error()).in(what));
  if (data.size() != static_cast<std::size_t>(*expected))
    return base::fail(ErrorCode::corrupt, "{}: holds {} bytes of data, but {} of {} needs {}", what, data.size(),
                      shape_text(tensor.dims), element_type_name(tensor.type), *expected);
  tensor.bytes = std::string(data);
  return tensor;
}

base::Result<std::string> npy_header(ElementType type, std::span<const std::int64_t> dims) {
  const auto row =
      std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const Dtype& one) { return one.type == type; });
  if (row == std::end(kDtypes))
    return base::fail(ErrorCode::unsupported, "a tensor of type {} has no form in a .npy file",
                      element_type_name(type));
  const bool has_order = element_bits(type) > 8 && type != ElementType::bfloat16;
  auto dict = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", has_order ? '<' : '|',
                          row->text, fmt::join(dims, ", "), dims.size() == 1 ? "," : "");
  const std::size_t start = kNpyMagic.size() + 4;
  dict.resize((start + dict.size() + kAlignment) / kAlignment * kAlignment - start - 1, ' ');
  dict += '\n';
  std::string header(kNpyMagic);
  for (const auto byte : {std::size_t{1}, std::size_t{0}, dict.size() & 0xFFU, dict.size() >> 8U})
    header += static_cast<char>(byte);
  return header + dict;
}

base::Result<Tensor> read_npy(const std::filesystem::path& path) {
  RL_TRY_ASSIGN(const auto bytes, base::read_file(path));
  return parse_npy(bytes, path.string());
}

}  // namespace ridgeline::workload
