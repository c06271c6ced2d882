// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/npy_file.hpp"

#include <gtest/gtest.h>

#include "unit/workload/temp_folder.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

/// As numpy.save writes it: the header is padded to a multiple of 64.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data, int version = 1,
                const std::string& order = "False") {
  auto header = "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  const std::size_t start = version == 1 ? 10 : 12;
  header.resize((start + header.size() + 64) / 64 * 64 - start - 1, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (std::size_t at = 0; at < start - 8; ++at) bytes += static_cast<char>(header.size() >> (8 * at) & 0xFFU);
  return bytes + header + data;
}

ErrorCode code_of(const std::string& bytes) {
  const auto tensor = parse_npy(bytes, "x.npy");
  if (tensor) return ErrorCode::cancelled;  // never an error of the reader
  EXPECT_EQ(tensor.error().message.substr(0, 5), "x.npy");
  return tensor.error().code;
}

TEST(NpyFile, reads_versions_one_to_three) {
  for (const int version : {1, 2, 3}) {
    const auto tensor = parse_npy(npy("'<f4'", "(2, 1)", "abcdefgh", version), "x");
    ASSERT_TRUE(tensor) << tensor.error().message;
    EXPECT_EQ(tensor->type, ElementType::float32);
    EXPECT_EQ(tensor->dims, (std::vector<std::int64_t>{2, 1}));
    EXPECT_EQ(tensor->bytes, "abcdefgh");
  }
}

TEST(NpyFile, reads_every_number_type) {
  const std::pair<const char*, ElementType> types[] = {
      {"'|b1'", ElementType::boolean},  {"'|u1'", ElementType::uint8},     {"'|i1'", ElementType::int8},
      {"'<u2'", ElementType::uint16},   {"'<i2'", ElementType::int16},     {"'<f2'", ElementType::float16},
      {"'<V2'", ElementType::bfloat16}, {"'|V2'", ElementType::bfloat16},  {"'<i4'", ElementType::int32},
      {"'<u4'", ElementType::uint32},   {"'<i8'", ElementType::int64},     {"'<u8'", ElementType::uint64},
      {"'<f8'", ElementType::float64},  {"'<c8'", ElementType::complex64}, {"'<c16'", ElementType::complex128},
  };
  for (const auto& [descr, type] : types) {
    const auto tensor =
        parse_npy(npy(descr, "(1,)", std::string(static_cast<std::size_t>(element_bits(type) / 8), 'x')), "x");
    ASSERT_TRUE(tensor) << tensor.error().message;
    EXPECT_EQ(tensor->type, type) << descr;
  }
}

TEST(NpyFile, scalars_and_empty_arrays_are_read) {
  EXPECT_TRUE(parse_npy(npy("'<f4'", "()", "abcd"), "x")->dims.empty());
  EXPECT_EQ(parse_npy(npy("'<f4'", "(0, 3)", ""), "x")->dims, (std::vector<std::int64_t>{0, 3}));
  EXPECT_TRUE(parse_npy(npy("'<f4'", "(2,)", "abcdefgh", 1, "True"), "x"));  // one dimension has no order
}

TEST(NpyFile, what_cannot_be_used_is_unsupported) {
  EXPECT_EQ(code_of(npy("'>f4'", "(1,)", "abcd")), ErrorCode::unsupported);
  EXPECT_EQ(code_of(npy("'|O'", "(1,)", "abcd")), ErrorCode::unsupported);
  EXPECT_EQ(code_of(npy("'<U3'", "(1,)", "abcdabcdabcd")), ErrorCode::unsupported);
  EXPECT_EQ(code_of(npy("[('a', '<f4')]", "(1,)", "abcd")), ErrorCode::unsupported);
  EXPECT_EQ(code_of(npy("'<f4'", "(1, 1)", "abcd", 1, "True")), ErrorCode::unsupported);
  EXPECT_EQ(code_of(npy("'<f4'", "(1,)", "abcd", 4)), ErrorCode::unsupported);
}

TEST(NpyFile, broken_files_are_corrupt) {
  EXPECT_EQ(code_of(""), ErrorCode::corrupt);
  EXPECT_EQ(code_of("PK\x03\x04 an npz archive"), ErrorCode::corrupt);
  EXPECT_EQ(code_of(npy("'<f4'", "(2,)", "abcd")), ErrorCode::corrupt);
  EXPECT_EQ(code_of(npy("'<f4'", "(1,)", "abcdefgh")), ErrorCode::corrupt);
  EXPECT_EQ(code_of(npy("'<f4'", "(-1,)", "abcd")), ErrorCode::corrupt);
  EXPECT_EQ(code_of(npy("'<f4'", "(x,)", "abcd")), ErrorCode::corrupt);
  EXPECT_EQ(code_of(npy("''", "(1,)", "abcd")), ErrorCode::corrupt);
  const auto whole = npy("'<f4'", "(1,)", "abcd");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(code_of(whole.substr(0, size)), ErrorCode::cancelled) << size;
  EXPECT_EQ(code_of(npy("'<f8'", "(1152921504606846976, 64)", "abcd")), ErrorCode::invalid_argument);
}

TEST(NpyFile, a_missing_file_is_not_found) {
  const TempFolder folder;
  EXPECT_EQ(read_npy(folder / "none.npy").error().code, ErrorCode::not_found);
  EXPECT_TRUE(read_npy(folder.write("x.npy", npy("'<f4'", "(1,)", "abcd"))));
}

}  // namespace
}  // namespace ridgeline::workload
