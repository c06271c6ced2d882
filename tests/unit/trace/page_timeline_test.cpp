// SPDX-License-Identifier: Apache-2.0
#include "trace/export/page_timeline.hpp"

#include <limits>

#include <gtest/gtest.h>
#include <zlib.h>

#include "base/json.hpp"
#include "trace/export/base64.hpp"
#include "trace/import/bound_values.hpp"

namespace ridgeline::trace {
namespace {

/// A piece of work as the page has it.
struct Piece {
  std::string name;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::string shape;  ///< or bytes
  std::string module;
  std::int64_t step = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Piece& piece) {
    return out << piece.name << ' ' << piece.start << '+' << piece.duration << ' ' << piece.shape << " in "
               << piece.module << " of step " << piece.step;
  }
};

std::string from_base64(const std::string& text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const auto c : text) {
    if (c == '=') break;
    const auto digit = c >= 'a' ? c - 'a' + 26 : c >= 'A' ? c - 'A' : c >= '0' ? c - '0' + 52 : c == '+' ? 62 : 63;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) out += static_cast<char>(bits >> (count -= 8) & 255);
  }
  return out;
}

/// Reads a page's data by the description in page_timeline.hpp alone.
class PageReader {
 public:
  explicit PageReader(const std::string& data) {
    const auto packed = from_base64(data);
    std::string bytes(std::size_t{1} << 26, '\0');
    uLongf size = bytes.size();
    EXPECT_EQ(::uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                           packed.size()),
              Z_OK);
    bytes.resize(size);
    std::size_t header_size = 0;
    for (std::size_t i = 0; i < 4; ++i) header_size |= std::size_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
    header = base::Json::parse(bytes.substr(4, header_size));
    auto at = 4 + header_size;
    for (const auto& group : header["groups"]) {
      auto& rows = groups[group["title"]];
      for (const auto& layout : group["rows"]) {
        std::vector<std::vector<std::uint64_t>> columns;
        for (std::size_t i = 1; i < layout.size(); ++i) {
          const auto length = layout[i].get<std::size_t>();
          columns.push_back(numbers(bytes.substr(at, length)));
          EXPECT_EQ(columns.back().size(), layout[0].get<std::size_t>());
          at += length;
        }
        rows.push_back(pieces(columns));
      }
    }
    EXPECT_EQ(at, bytes.size());
  }

  base::Json header;
  std::map<std::string, std::vector<std::vector<Piece>>> groups;

 private:
  static std::vector<std::uint64_t> numbers(const std::string& bytes) {
    std::vector<std::uint64_t> out;
    std::uint64_t number = 0;
    int shift = 0;
    for (const auto byte : bytes) {
      number |= std::uint64_t{static_cast<unsigned char>(byte) & 127U} << shift;
      shift += 7;
      if ((static_cast<unsigned char>(byte) & 128U) != 0) continue;
      out.push_back(number);
      number = 0;
      shift = 0;
    }
    return out;
  }
  static std::int64_t difference(std::uint64_t number) {
    return number % 2 == 0 ? static_cast<std::int64_t>(number / 2) : -static_cast<std::int64_t>(number / 2) - 1;
  }

  [[nodiscard]] std::string path(std::int64_t module) const {
    if (module == 0) return "unknown";
    std::string out;
    for (auto row = header["modules"][static_cast<std::size_t>(module - 1)]; row[0] != -1;
         row = header["modules"][row[0].get<std::size_t>()])
      out = row[1].get<std::string>() + (out.empty() ? "" : "/" + out);
    return out;
  }

  std::vector<Piece> pieces(const std::vector<std::vector<std::uint64_t>>& columns) const {
    std::vector<Piece> out;
    std::int64_t end = 0;
    std::int64_t module = 0;
    std::int64_t step = 0;
    for (std::size_t i = 0; i < columns[0].size(); ++i) {
      Piece piece;
      const auto& name = header["names"][columns[2][i]];
      piece.name = name[1];
      piece.start = end + static_cast<std::int64_t>(columns[0][i]);
      piece.duration = static_cast<std::int64_t>(columns[1][i]);
      end = piece.start + piece.duration;
      if (columns[3][i] > 0)
        piece.shape = name[0] == 0 ? header["shapes"][columns[3][i] - 1].dump() : std::to_string(columns[3][i] - 1);
      piece.module = path(module += difference(columns[4][i]));
      piece.step = step += difference(columns[5][i]);
      out.push_back(std::move(piece));
    }
    return out;
  }
};

class PageTimelineTest : public ::testing::Test {
 protected:
  void kernel(std::int64_t start, std::int64_t duration, const std::string& name, std::int64_t stream = 7,
              std::int64_t correlation = 0) {
    auto& kernels = trace_.kernels;
    kernels.add(start, duration, trace_.strings.id(name), trace_.gpu_lane({0, 0, 1, stream}), correlation);
    kernels.grid.push_back({8, 2, 1});
    kernels.block.push_back({128, 1, 1});
    kernels.registers.push_back(32);
    kernels.shared_bytes.push_back(0);
    kernels.graph_node.push_back(0);
  }
  void copy(std::int64_t start, std::int64_t duration, std::int64_t bytes) {
    trace_.copies.add(start, duration, trace_.strings.id("Memcpy HtoD"), trace_.gpu_lane({0, 0, 1, 7}), 0);
    trace_.copies.bytes.push_back(bytes);
  }
  void call(std::int64_t start, std::int64_t duration, std::int64_t correlation) {
    trace_.calls.add(start, duration, trace_.strings.id("cudaLaunchKernel"), thread(), correlation);
  }
  void range(std::int64_t start, std::int64_t duration, const std::string& name, RangeKind kind) {
    trace_.ranges.add(start, duration, trace_.strings.id(name), thread(), 0);
    trace_.ranges.kind.push_back(kind);
    trace_.ranges.sequence.push_back(-1);
    trace_.ranges.forward_thread.push_back(0);
  }
  LaneId thread() { return trace_.thread_lane({5, 6}); }
  [[nodiscard]] std::string page() const { return page_timeline(AnalysedTrace(trace_)); }

  Trace trace_;
};

constexpr auto kShape = "[8,2,1,128,1,1]";

TEST_F(PageTimelineTest, a_trace_without_events_has_none) { EXPECT_EQ(page(), ""); }

TEST_F(PageTimelineTest, overlapping_work_of_a_stream_goes_to_further_rows) {
  kernel(1000, 10, "a");
  kernel(1005, 3, "b");
  kernel(1006, 10, "a");
  kernel(1010, 0, "c");
  copy(1020, 5, 4096);
  copy(1030, 5, -1);
  kernel(990, 1, "a", 20);
  const PageReader read(page());
  EXPECT_EQ(read.header["span_ns"], 45);
  ASSERT_EQ(read.groups.size(), 2U);
  EXPECT_EQ(read.groups.at("GPU 0 · stream 20"),
            (std::vector<std::vector<Piece>>{{{"a", 0, 1, kShape, "(unattributed)", 0}}}));
  EXPECT_EQ(read.groups.at("GPU 0 · stream 7"),
            (std::vector<std::vector<Piece>>{{{"a", 10, 10, kShape, "(unattributed)", 0},
                                              {"c", 20, 0, kShape, "(unattributed)", 0},
                                              {"Memcpy HtoD", 30, 5, "4096", "(unattributed)", 0},
                                              {"Memcpy HtoD", 40, 5, "", "(unattributed)", 0}},
                                             {{"b", 15, 3, kShape, "(unattributed)", 0}},
                                             {{"a", 16, 10, kShape, "(unattributed)", 0}}}));
}

TEST_F(PageTimelineTest, work_has_its_module_and_its_step) {
  for (int step = 0; step < 2; ++step) {
    const auto at = 1000 * step;
    range(at, 900, "ProfilerStep#" + std::to_string(step + 3), RangeKind::annotation);
    range(at + 10, 500, "nn.Module: Net_0", RangeKind::python);
    range(at + 20, 100, "nn.Module: Linear_" + std::to_string(step), RangeKind::python);
    range(at + 30, 50, "aten::mm", RangeKind::operation);
    range(at + 35, 20, "aten::within", RangeKind::operation);
    call(at + 40, 5, step + 1);
    kernel(at + 950, 40, "gemm", 7, step + 1);
  }
  const PageReader read(page());
  EXPECT_EQ(read.groups.at("GPU 0 · stream 7"),
            (std::vector<std::vector<Piece>>{{{"gemm", 940, 40, kShape, "Net_0/Linear_0/aten::mm", 1},
                                              {"gemm", 1940, 40, kShape, "Net_0/Linear_1/aten::mm", 2}}}));
  EXPECT_EQ(read.groups.at("Thread 6 · process 5"),
            (std::vector<std::vector<Piece>>{
                {{"Net_0", 0, 500, "", "Net_0", 1}, {"Net_0", 1000, 500, "", "Net_0", 2}},
                {{"Linear_0", 10, 100, "", "Net_0/Linear_0", 1}, {"Linear_1", 1010, 100, "", "Net_0/Linear_1", 2}},
                {{"aten::mm", 20, 50, "", "Net_0/Linear_0/aten::mm", 1},
                 {"aten::mm", 1020, 50, "", "Net_0/Linear_1/aten::mm", 2}}}));
  EXPECT_EQ(read.header["steps"], base::Json::parse(R"([["ProfilerStep#3",0,890],["ProfilerStep#4",990,900]])"));
  EXPECT_EQ(read.header["levels"], 3);
  EXPECT_EQ(read.header["hidden_levels"], 0);
}

TEST_F(PageTimelineTest, the_deepest_levels_of_the_host_give_way_to_very_much_work) {
  for (int i = 0; i < 1'099'999; ++i) kernel(2 * i, 1, "k");
  range(0, 500, "nn.Module: Net_0", RangeKind::python);
  range(1, 100, "nn.Module: Linear_0", RangeKind::python);
  const PageReader read(page());
  EXPECT_EQ(read.groups.at("GPU 0 · stream 7")[0].size(), 1'099'999U);
  EXPECT_EQ(read.groups.at("Thread 6 · process 5").size(), 1U);
  EXPECT_EQ(read.header["levels"], 1);
  EXPECT_EQ(read.header["hidden_levels"], 1);
}

TEST_F(PageTimelineTest, what_no_script_could_read_is_made_harmless) {
  kernel(std::numeric_limits<std::int64_t>::min(), 5, "bad \xff");
  kernel(std::numeric_limits<std::int64_t>::max(), 5, "k");
  bound_values(trace_);  // as every importer does
  const PageReader read(page());
  const auto& row = read.groups.at("GPU 0 · stream 7")[0];
  ASSERT_EQ(row.size(), 2U);
  EXPECT_EQ(row[0].name, "bad \xEF\xBF\xBD");
  EXPECT_LT(row[1].start, std::int64_t{1} << 53) << "JavaScript's numbers are exact up to there";
}

TEST(Base64, pads) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo\xff\xfe"), "Zm9v//4=");
}

}  // namespace
}  // namespace ridgeline::trace
