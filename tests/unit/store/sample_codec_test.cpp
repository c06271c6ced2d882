// SPDX-License-Identifier: Apache-2.0
#include "store/sample_codec.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::store {
namespace {

void expect_round_trip(const std::vector<double>& samples) {
  const auto decoded = decode_samples(encode_samples(samples));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, samples);
}

TEST(SampleCodec, keeps_every_value_exactly) {
  expect_round_trip({});
  expect_round_trip({0});
  expect_round_trip({1000, 1001, 999, 5, 123456789012.0, 0, -7});
  expect_round_trip({4503599627370496.0, -4503599627370496.0});
  expect_round_trip({1.5, 2.25, 1e-300});
  expect_round_trip({std::numeric_limits<double>::infinity(), 1e300, 1});
  EXPECT_TRUE(std::signbit(decode_samples(encode_samples({-0.0}))->front()));
}

TEST(SampleCodec, takes_less_than_half_of_the_raw_size_for_nanoseconds) {
  base::Random random(1);
  std::vector<double> samples;
  for (int i = 0; i < 10000; ++i) samples.push_back(std::floor(5e6 * (1 + 0.02 * random.normal())));
  const auto bytes = encode_samples(samples);
  EXPECT_LT(bytes.size(), samples.size() * 4);
  expect_round_trip(samples);
}

TEST(SampleCodec, refuses_damaged_bytes) {
  const auto whole = encode_samples({1000, 2000, 3000});
  const auto raw = encode_samples({1.5, 2.5});
  const std::vector<std::string> damaged{
      "",          "\x07",    whole.substr(0, whole.size() - 1),
      whole + "x", raw + "x", std::string("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12)};
  for (const auto& bytes : damaged) {
    const auto decoded = decode_samples(bytes);
    ASSERT_FALSE(decoded) << bytes.size();
    EXPECT_EQ(decoded.error().code, base::ErrorCode::corrupt);
  }
}

TEST(SampleCodec, survives_random_bytes) {
  base::Random random(2);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string bytes(1 + random.below(40), '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random.next());
    bytes[0] = static_cast<char>(random.below(3));
    refused += decode_samples(bytes) ? 0 : 1;
  }
  EXPECT_GT(refused, 3000);
}

}  // namespace
}  // namespace ridgeline::store
