// SPDX-License-Identifier: Apache-2.0
#include "monitor/screen.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "fakes/machine_snapshot.hpp"
#include "monitor/draw.hpp"

namespace ridgeline::monitor {
namespace {

class ScreenTest : public ::testing::Test {
 protected:
  ScreenTest() {
    for (int i = 0; i < 100; ++i) history_.add(snapshot_);
  }
  std::string draw(int rows = 24, int columns = 80, bool unicode = true) {
    return draw_screen(snapshot_, history_, view_, {rows, columns, unicode}).text();
  }
  static bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
  Snapshot snapshot_ = fakes::busy_machine();
  History history_;
  ViewState view_;
};

TEST_F(ScreenTest, shows_everything_about_one_gpu_in_80x24) {
  const auto text = draw();
  for (const auto* part : {"Ridgeline monitor · driver 580.65.06",
                           "12:34 · every 1 s",
                           "GPU 0  NVIDIA H200",
                           "P0 · PCIe 5 x16",
                           "87 %",
                           "60.0/140.0 GiB",
                           "482/700 W",
                           "1935/1980 MHz",
                           "61 °C mem 52",
                           "72 %",
                           "55 %",
                           "30 % 1.47 TB/s",
                           "↓ 1.62 GB/s  ↑ 800 MB/s",
                           "12.3 kJ since start",
                           "Slowed   not since start",
                           "GPU busy",
                           "▼GPU MEM",
                           "4711 ada",
                           "docker:012345",
                           "python train.py",
                           "q Quit",
                           "h Help",
                           "/ Filter"})
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
}

TEST_F(ScreenTest, fits_every_size) {
  for (int i = 1; i < 8; ++i) snapshot_.gpus.push_back(fakes::busy_gpu(i));
  snapshot_.gpus[2].state = GpuState::lost;
  snapshot_.gpus[2].note = "reading the GPU: GPU is lost (NVML 15)";
  snapshot_.gpus[0].slices = {{"MIG 3g", "MIG-1", 1e9, 2e9, 50.0, 20.0, 10.0}};
  snapshot_.notes = {std::string(300, 'n')};
  view_.help = true;
  for (const bool unicode : {true, false})
    for (int rows = 0; rows < 70; rows += 3)
      for (int columns = 0; columns < 260; columns += 13) {
        const auto canvas = draw_screen(snapshot_, history_, view_, {rows, columns, unicode});
        EXPECT_EQ(canvas.rows(), rows);
        EXPECT_EQ(canvas.columns(), columns);
      }
  EXPECT_TRUE(has(draw(4, 30), "too small"));
}

TEST_F(ScreenTest, is_plain_ascii_where_asked) {
  const auto text = draw(24, 80, false);
  for (const char letter : text) ASSERT_TRUE(letter == '\n' || (letter >= ' ' && letter <= '~')) << text;
  EXPECT_TRUE(has(text, "####")) << text;
}

TEST_F(ScreenTest, lists_several_gpus_and_marks_the_selected_one) {
  for (int i = 1; i < 8; ++i) snapshot_.gpus.push_back(fakes::busy_gpu(i));
  snapshot_.gpus[3].state = GpuState::lost;
  snapshot_.gpus[3].note = "GPU is lost";
  snapshot_.gpus[5].slowdown_reasons = {"sw_power_cap"};
  snapshot_.gpus[6].state = GpuState::asleep;
  snapshot_.gpus[6].note = "asleep; not asked";
  view_.selected = 5;
  const auto text = draw(40, 100);
  EXPECT_TRUE(has(text, "LOST: GPU is lost")) << text;
  EXPECT_TRUE(has(text, "asleep; not asked"));
  EXPECT_TRUE(has(text, "> 5 H200")) << text;
  EXPECT_TRUE(has(text, "power limit"));
  EXPECT_TRUE(has(text, "GPU 5  NVIDIA H200"));
}

TEST_F(ScreenTest, keeps_the_selected_gpu_in_a_short_list) {
  for (int i = 1; i < 16; ++i) snapshot_.gpus.push_back(fakes::busy_gpu(i));
  view_.selected = 15;
  EXPECT_TRUE(has(draw(12, 80), ">15 H200")) << draw(12, 80);
}

TEST_F(ScreenTest, says_what_holds_the_clocks_down_and_for_how_long) {
  snapshot_.gpus[0].slowdown_reasons = {"sw_power_cap"};
  snapshot_.gpus[0].slowdown_since_start_s = {
      {"sw_power_cap", 377.0}, {"sw_thermal_slowdown", 9.5}, {"sync_boost", 0.0}};
  EXPECT_TRUE(
      has(draw(24, 100), "Slowed   now by power limit · since start: power limit 6:17 (50 %), heat 9.5 s (1 %)"))
      << draw(24, 100);
}

TEST_F(ScreenTest, says_why_gpm_has_no_values) {
  auto& gpu = snapshot_.gpus[0];
  gpu.sm_percent = gpu.tensor_percent = gpu.dram_percent = std::nullopt;
  gpu.note = "GPM: this GPU has none; Hopper and later do";
  EXPECT_TRUE(has(draw(), "GPM: this GPU has none")) << draw();
}

TEST_F(ScreenTest, shows_the_host_and_the_reason_without_a_gpu) {
  snapshot_.gpus.clear();
  snapshot_.processes.clear();
  snapshot_.notes = {
      "no NVIDIA GPU is visible: libnvidia-ml.so.1: cannot open shared object file: No such file or directory; x"};
  const auto text = draw();
  for (const auto* part :
       {"no NVIDIA GPU is visible", "No such file or directory; x", "CPU", "34 %", "12.3/128.0 GiB", "load 3.2"})
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
}

TEST_F(ScreenTest, filters_and_scrolls_the_processes) {
  view_.order.filter = "triton";
  const auto filtered = draw();
  EXPECT_TRUE(has(filtered, "tritonserver"));
  EXPECT_FALSE(has(filtered, "train.py"));
  EXPECT_TRUE(has(filtered, "filter: triton"));
  view_.order.filter = "nobody";
  EXPECT_TRUE(has(draw(), "no process matches"));
  view_.order.filter.clear();
  view_.scroll = 2;
  EXPECT_FALSE(has(draw(), "train.py"));
  EXPECT_TRUE(has(draw(), "nvidia-persistenced"));
}

TEST_F(ScreenTest, plots_the_newest_at_the_right_edge) {
  Canvas canvas(2, 4, true);
  const auto rising = [](std::size_t age) {
    return age < 6 ? static_cast<float>(60 - 10 * static_cast<int>(age)) : std::nanf("");
  };
  draw_plot(canvas, {0, 0, 2, 4, 0, 80, Palette::load, rising});
  EXPECT_EQ(canvas.text(), "   ⣠\n ⣠⣾⣿") << canvas.text();
  Canvas ascii(2, 4, false);
  draw_plot(ascii, {0, 0, 2, 4, 0, 80, Palette::load, rising});
  EXPECT_EQ(ascii.text(), "  __\n####") << ascii.text();
}

TEST_F(ScreenTest, draws_bars_to_an_eighth) {
  Canvas canvas(1, 8, true);
  draw_bar(canvas, 0, 0, 8, 0.5 + 3.0 / 64, Palette::heat);
  EXPECT_EQ(canvas.text(), "████▍···");
  draw_bar(canvas, 0, 0, 8, std::nullopt, Palette::heat);
  EXPECT_EQ(canvas.text(), "········");
  draw_bar(canvas, 0, 0, 8, 7.0, Palette::heat);
  EXPECT_EQ(canvas.text(), "████████");
}

TEST_F(ScreenTest, writes_numbers_people_read) {
  EXPECT_EQ(span_text(3.24), "3.2 s");
  EXPECT_EQ(span_text(72), "1:12");
  EXPECT_EQ(span_text(7425), "2:03:45");
  EXPECT_EQ(rate_text(950e3), "950 kB/s");
  EXPECT_EQ(rate_text(999.9e6), "1.00 GB/s");
  EXPECT_EQ(rate_text(4.1e12), "4.10 TB/s");
  EXPECT_EQ(energy_text(999), "999 J");
  EXPECT_EQ(energy_text(7.2e6), "2.00 kWh");
  EXPECT_EQ(memory_text(1073741824.0, std::nullopt), "1.0 GiB");
  EXPECT_EQ(percent_text(std::nullopt), "-");
}

TEST_F(ScreenTest, prints_one_look_without_plots_and_keys) {
  const auto text = draw_once(snapshot_, {}, 100, true).text();
  EXPECT_TRUE(has(text, "GPU 0  NVIDIA H200"));
  EXPECT_TRUE(has(text, "nvidia-persistenced"));
  EXPECT_TRUE(has(text, "2026-11-21T12:00:00Z"));
  EXPECT_FALSE(has(text, "q Quit"));
  EXPECT_FALSE(has(text, "last "));
  ProcessOrder order;
  order.filter = "persistenced";
  order.key = SortKey::pid;
  const auto filtered = draw_once(snapshot_, order, 100, true).text();
  EXPECT_TRUE(has(filtered, "nvidia-persistenced"));
  EXPECT_TRUE(has(filtered, "▼PID"));
  EXPECT_LT(filtered.size(), text.size());
}

}  // namespace
}  // namespace ridgeline::monitor
