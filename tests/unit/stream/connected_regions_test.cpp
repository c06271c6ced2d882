// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/connected_regions.hpp"

#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ridgeline::stream {
namespace {

using Pixels = std::set<std::pair<int, int>>;

/// By spreading from pixel to pixel.
std::vector<Pixels> flood(const std::vector<float>& map, int width, int height, float threshold) {
  std::vector<Pixels> found;
  std::vector<bool> seen(map.size());
  const auto place = [&](int x, int y) { return static_cast<std::size_t>(y * width + x); };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      if (seen[place(x, y)] || !(map[place(x, y)] > threshold)) continue;
      Pixels pixels;
      std::vector<std::pair<int, int>> open{{x, y}};
      seen[place(x, y)] = true;
      while (!open.empty()) {
        const auto [px, py] = open.back();
        open.pop_back();
        pixels.insert({py, px});
        for (int ny = std::max(0, py - 1); ny <= std::min(height - 1, py + 1); ++ny)
          for (int nx = std::max(0, px - 1); nx <= std::min(width - 1, px + 1); ++nx)
            if (!seen[place(nx, ny)] && map[place(nx, ny)] > threshold) {
              seen[place(nx, ny)] = true;
              open.push_back({nx, ny});
            }
      }
      found.push_back(pixels);
    }
  return found;
}

TEST(ConnectedRegions, are_those_that_spreading_finds) {
  base::Random random(3);
  ConnectedRegions regions;
  for (int round = 0; round < 80; ++round) {
    const int width = 1 + static_cast<int>(random.uniform() * 100);
    const int height = 1 + static_cast<int>(random.uniform() * 40);
    const double share = random.uniform();
    std::vector<float> map(static_cast<std::size_t>(width * height));
    for (auto& value : map) value = random.uniform() < share ? 0.9F : -0.5F;
    ASSERT_TRUE(regions.find(map, width, height, 0.3F));
    std::vector<Pixels> found(regions.size());
    for (std::size_t i = 0; i < regions.size(); ++i)
      for (const auto& run : regions.region(i))
        for (int x = run.begin; x < run.end; ++x) found[i].insert({run.row, x});
    EXPECT_EQ(found, flood(map, width, height, 0.3F)) << width << "x" << height;
  }
}

TEST(ConnectedRegions, refuses_a_nan_of_either_sign) {
  for (const float nan : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN()})
    for (const std::size_t place : {0U, 31U, 32U, 69U}) {
      std::vector<float> map(70, 0.9F);
      map[place] = nan;
      ConnectedRegions regions;
      EXPECT_FALSE(regions.find(map, 70, 1, 0.3F));
      EXPECT_EQ(regions.size(), 0U);
    }
}

TEST(ConnectedRegions, are_none_in_an_empty_map) {
  ConnectedRegions regions;
  EXPECT_TRUE(regions.find(std::vector<float>(640, 0.3F), 64, 10, 0.3F));
  EXPECT_EQ(regions.size(), 0U);
}

}  // namespace
}  // namespace ridgeline::stream
