// SPDX-License-Identifier: Apache-2.0
#include "monitor/screen.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "fakes/machine_snapshot.hpp"
#include "monitor/draw.hpp"

namespace ridgeline::monitor {
namespace {

/// Of text in UTF-8 without wide characters.
std::size_t width_of(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

class ScreenTest : public ::testing::Test {
 protected:
  ScreenTest() {
    const auto now = snapshot_.since_start_s;
    for (int i = 99; i >= 0; --i) {
      snapshot_.since_start_s = now - i;
      history_.add(snapshot_);
    }
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
  snapshot_.gpus[0].slices = {{"MIG 3g", "MIG-1", 1e9, 2e9, 50.0, 20.0, 10.0},
                              {"MIG 3g", "", 1e9, 2e9, 50.0, 20.0, 10.0}};
  snapshot_.notes = {std::string(300, 'n')};
  view_.help = true;
  for (const bool unicode : {true, false})
    for (int rows = 0; rows < 70; rows += 3)
      for (int columns = 0; columns < 260; columns += 13) {
        const auto canvas = draw_screen(snapshot_, history_, view_, {rows, columns, unicode});
        EXPECT_EQ(canvas.rows(), rows);
        EXPECT_EQ(canvas.columns(), columns);
        const auto lines = base::split(canvas.text(), '\n');
        EXPECT_LE(lines.size(), static_cast<std::size_t>(rows) + 1);
        for (const auto& line : lines) EXPECT_LE(width_of(line), static_cast<std::size_t>(columns)) << line;
      }
  view_.help = false;
  const auto large = draw(66, 160);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(has(large, fmt::format(" {} H200", i).c_str())) << large;
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

TEST_F(ScreenTest, tells_every_cause_with_its_time_also_in_80_columns) {
  snapshot_.gpus[0].nvlink_links_present = snapshot_.gpus[0].nvlink_links_active = 18;  // the energy is in this line
  snapshot_.gpus[0].slowdown_reasons = {"sw_power_cap", "sw_thermal_slowdown"};
  snapshot_.gpus[0].slowdown_since_start_s = {{"sw_power_cap", 754.0}, {"sw_thermal_slowdown", 377.0}};
  EXPECT_TRUE(has(draw(), "Slowed   now: power limit 12:34 (100 %), heat 6:17 (50 %) ")) << draw();
  EXPECT_TRUE(has(draw(), "energy 12.3 kJ")) << draw();
  snapshot_.gpus[0].slowdown_reasons = {"sw_thermal_slowdown"};
  snapshot_.gpus[0].slowdown_since_start_s["hw_thermal_slowdown"] = 377;
  EXPECT_TRUE(has(draw(), "Slowed   now: heat 6:17; before: heat (hardware) 6:17, power limit 12:34\n")) << draw();
}

TEST_F(ScreenTest, the_list_of_gpus_has_room_for_two_causes_in_80_columns) {
  for (int i = 1; i < 4; ++i) snapshot_.gpus.push_back(fakes::busy_gpu(i));
  snapshot_.gpus[2].slowdown_reasons = {"sw_power_cap", "sw_thermal_slowdown"};
  EXPECT_TRUE(has(draw(), " power, heat\n")) << draw();
  EXPECT_TRUE(has(draw(), " Slowed by\n")) << draw();
  EXPECT_TRUE(has(draw(24, 140), " power limit, heat\n")) << draw(24, 140);
}

TEST_F(ScreenTest, cuts_no_unit_and_no_word_of_the_keys_in_60_columns) {
  auto& gpu = snapshot_.gpus[0];
  gpu.nvlink_links_present = gpu.nvlink_links_active = 18;
  gpu.nvlink_received_bytes_per_s = gpu.nvlink_sent_bytes_per_s = 123e9;
  EXPECT_TRUE(has(draw(15, 60), "↓1.62GB/s ↑800MB/s")) << draw(15, 60);
  EXPECT_TRUE(has(draw(15, 60), "↓123GB/s ↑123GB/s")) << draw(15, 60);
  view_.help = true;
  EXPECT_TRUE(has(draw(15, 60), "sort by memory, SM, CPU, pid, user, name ")) << draw(15, 60);
  EXPECT_TRUE(has(draw(15, 60), "processes of all GPUs or the selected one")) << draw(15, 60);
}

TEST_F(ScreenTest, the_title_of_the_plots_is_the_time_that_they_show) {
  const auto title = [&](const History& history) {
    const auto text = draw_screen(snapshot_, history, view_, {24, 80, true}).text();
    const auto at = text.find("── last ");
    return at == std::string::npos ? std::string() : text.substr(at, text.find(" ─", at) - at);
  };
  EXPECT_EQ(title(history_), "── last 1:15") << "76 readings fit";
  History few;
  EXPECT_EQ(title(few), "");
  for (const double at : {0.06, 1.06, 2.06, 12.06}) {  // the interval was made longer meanwhile
    snapshot_.since_start_s = at;
    few.add(snapshot_);
  }
  EXPECT_EQ(title(few), "── last 12 s");
}

TEST_F(ScreenTest, tells_slices_of_one_name_apart_by_their_uuid) {
  auto& slices = snapshot_.gpus[0].slices;
  slices = {{"NVIDIA H200 MIG 3g.71gb", "MIG-1a2b3c4d-0000-5000-8000-000000000001", 1e9, 75e9, 50.0, {}, {}},
            {"NVIDIA H200 MIG 1g.18gb", "MIG-5555aaaa-0000-5000-8000-000000000002", 1e9, 18e9, 50.0, {}, {}},
            {"NVIDIA H200 MIG 3g.71gb", "MIG-9f8e7d6c-0000-5000-8000-000000000003", 1e9, 75e9, 50.0, {}, {}}};
  for (const auto& text : {draw(), draw_once(snapshot_, {}, 80, true).text()}) {
    EXPECT_TRUE(has(text, "NVIDIA H200 MIG 3g.71gb MIG-1a2b3c4d    Memory")) << text;
    EXPECT_TRUE(has(text, "NVIDIA H200 MIG 3g.71gb MIG-9f8e7d6c    Memory")) << text;
    EXPECT_FALSE(has(text, "MIG-5555")) << "has a name of its own\n" << text;
  }
  EXPECT_TRUE(has(draw(24, 60), "MIG 3g.71gb MIG-1a2b3c4d ")) << draw(24, 60);
  EXPECT_TRUE(has(draw(24, 40), "MIG 3 MIG-9f8e7d6")) << draw(24, 40);
}

TEST_F(ScreenTest, a_slice_with_a_long_name_leaves_out_the_gpu_and_not_what_it_is) {
  auto& gpu = snapshot_.gpus[0];
  gpu.name = "NVIDIA A100-SXM4-80GB";
  gpu.slices = {{gpu.name + " MIG 1g.10gb+me", "MIG-1a2b3c4d-0000-5000-8000-000000000001", 1e9, 1e10, 5.0, {}, {}},
                {gpu.name + " MIG 1g.10gb+me", "MIG-9f8e7d6c-0000-5000-8000-000000000002", 1e9, 1e10, 5.0, {}, {}}};
  EXPECT_TRUE(has(draw(), " MIG 1g.10gb+me MIG-1a2b3c4d  ")) << draw();
}

// Drivers before 470 begin all of them with the GPU's: MIG-GPU-.../GPU instance/compute instance.
TEST_F(ScreenTest, tells_slices_apart_by_the_end_of_uuids_that_begin_alike) {
  const std::string gpu = "MIG-GPU-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f";
  snapshot_.gpus[0].slices = {{"MIG 3g.20gb", gpu + "/7/0", 1e9, 2e10, 50.0, {}, {}},
                              {"MIG 3g.20gb", gpu + "/11/0", 1e9, 2e10, 50.0, {}, {}}};
  EXPECT_TRUE(has(draw(), "MIG 3g.20gb 1c87eb3f/7/0 ")) << draw();
  EXPECT_TRUE(has(draw(), "MIG 3g.20gb c87eb3f/11/0 ")) << draw();
}

TEST_F(ScreenTest, says_why_gpm_has_no_values) {
  auto& gpu = snapshot_.gpus[0];
  gpu.sm_percent = gpu.tensor_percent = gpu.dram_percent = std::nullopt;
  for (const auto* note : {"GPM needs Hopper or later", "GPM needs driver 525 or later"}) {
    gpu.note = note;
    EXPECT_TRUE(has(draw(), note)) << draw();
  }
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

TEST_F(ScreenTest, several_notes_take_turns) {
  snapshot_.notes = {"the names of 2 processes are not visible", "the clock was set back"};
  snapshot_.since_start_s = 4;
  EXPECT_TRUE(has(draw(), "1 of 2: the names of 2 processes")) << draw();
  snapshot_.since_start_s = 6;
  EXPECT_TRUE(has(draw(), "2 of 2: the clock was set back")) << draw();
  snapshot_.since_start_s = 11;
  EXPECT_TRUE(has(draw(), "1 of 2: "));
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
  CellGrid canvas(2, 4, true);
  const auto rising = [](std::size_t age) {
    return age < 6 ? static_cast<float>(60 - 10 * static_cast<int>(age)) : std::nanf("");
  };
  draw_plot(canvas, {0, 0, 2, 4, 0, 80, Palette::load, rising});
  EXPECT_EQ(canvas.text(), "   ⣠\n ⣠⣾⣿") << canvas.text();
  CellGrid ascii(2, 4, false);
  draw_plot(ascii, {0, 0, 2, 4, 0, 80, Palette::load, rising});
  EXPECT_EQ(ascii.text(), "  __\n####") << ascii.text();
}

TEST_F(ScreenTest, draws_bars_to_an_eighth) {
  CellGrid canvas(1, 8, true);
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
