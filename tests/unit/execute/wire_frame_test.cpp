// SPDX-License-Identifier: Apache-2.0
#include "execute/wire_frame.hpp"

#include <cstring>

#include "base/random.hpp"

namespace ridgeline::execute {
namespace {

WireFrame sample_frame(std::size_t samples = 5) {
  WireFrame frame{FrameType::result, "{\"status\":\"ok\"}", {}};
  for (std::size_t i = 0; i < samples; ++i) frame.samples.push_back(static_cast<double>(i) * 1.5);
  return frame;
}

bool equal(const WireFrame& a, const WireFrame& b) {
  return a.type == b.type && a.json == b.json && a.samples == b.samples;
}

TEST(WireFrameReader, gives_back_what_was_encoded) {
  for (const std::size_t samples : {0U, 1U, 10'000U}) {
    WireFrameReader reader;
    reader.append(encode_frame(sample_frame(samples)));
    const auto frame = reader.next();
    ASSERT_TRUE(frame && *frame);
    EXPECT_TRUE(equal(**frame, sample_frame(samples)));
    EXPECT_FALSE(reader.has_partial());
  }
}

TEST(WireFrameReader, takes_bytes_one_at_a_time_and_frames_back_to_back) {
  const auto bytes = encode_frame(sample_frame(3)) + encode_frame({FrameType::error, "{}", {}});
  WireFrameReader reader;
  std::vector<WireFrame> frames;
  for (const char byte : bytes) {
    reader.append({&byte, 1});
    auto frame = reader.next();
    ASSERT_TRUE(frame) << frame.error().message;
    if (*frame) frames.push_back(std::move(**frame));
  }
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_TRUE(equal(frames[0], sample_frame(3)));
  EXPECT_EQ(frames[1].type, FrameType::error);
}

TEST(WireFrameReader, waits_for_a_truncated_frame) {
  const auto bytes = encode_frame(sample_frame());
  WireFrameReader reader;
  reader.append(std::string_view(bytes).substr(0, bytes.size() - 1));
  const auto frame = reader.next();
  ASSERT_TRUE(frame);
  EXPECT_FALSE(*frame);
  EXPECT_TRUE(reader.has_partial());
}

TEST(WireFrameReader, stays_broken_after_the_first_fault) {
  WireFrameReader reader;
  reader.append(std::string(64, 'x'));
  const auto first = reader.next();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, base::ErrorCode::corrupt);
  reader.append(encode_frame(sample_frame()));
  const auto second = reader.next();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, first.error().message);
}

TEST(WireFrameReader, finds_a_change_of_any_single_bit) {
  const auto good = encode_frame(sample_frame(2));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto damaged = good;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    WireFrameReader reader;
    reader.append(damaged);
    EXPECT_FALSE(reader.next()) << "bit " << bit;
  }
}

/// Random damage: flips, cuts, insertions, swaps, runs of zeros, frames glued together.
std::string mutate(std::string bytes, base::Random& random) {
  const auto at = [&] { return static_cast<std::size_t>(random.below(bytes.size())); };
  for (std::uint64_t times = 1 + random.below(4); times > 0 && !bytes.empty(); --times) {
    switch (random.below(6)) {
      case 0: bytes[at()] = static_cast<char>(random.next()); break;
      case 1: bytes.resize(at()); break;
      case 2:
        bytes.insert(at(),
                     std::string(static_cast<std::size_t>(1 + random.below(40)), static_cast<char>(random.next())));
        break;
      case 3: bytes.erase(at(), static_cast<std::size_t>(1 + random.below(16))); break;
      case 4: {
        const auto start = at();
        std::memset(bytes.data() + start, 0, std::min<std::size_t>(8, bytes.size() - start));
        break;
      }
      default: std::swap(bytes[at()], bytes[at()]); break;
    }
  }
  return bytes;
}

TEST(WireFrameReader, survives_thirty_thousand_mutated_streams_and_never_invents_a_frame) {
  constexpr int kStreams = 30'000;
  base::Random random(20261121);
  int errors = 0;
  int whole = 0;
  for (int i = 0; i < kStreams; ++i) {
    const auto original = sample_frame(static_cast<std::size_t>(random.below(6)));
    const auto clean = encode_frame(original);
    auto stream = mutate(clean, random);
    if (random.below(4) == 0) stream = clean + stream;
    WireFrameReader reader;
    for (std::size_t sent = 0; sent < stream.size();) {
      const auto piece = static_cast<std::size_t>(1 + random.below(64));
      reader.append(std::string_view(stream).substr(sent, piece));
      sent += piece;
      auto frame = reader.next();
      if (!frame) {
        EXPECT_EQ(frame.error().code, base::ErrorCode::corrupt);
        ++errors;
        break;
      }
      if (*frame) {
        ASSERT_TRUE(equal(**frame, original)) << "a damaged frame got through in stream " << i;
        ++whole;
      }
    }
  }
  EXPECT_GT(errors, kStreams / 2);
  EXPECT_GT(whole, kStreams / 10);
}

}  // namespace
}  // namespace ridgeline::execute
