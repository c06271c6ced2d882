// SPDX-License-Identifier: Apache-2.0
#include "trace/import/ncu_import.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <tuple>

#include "trace/import/printed_number.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::string_view kRecordWithNcu =
    "record with ncu --csv --page raw --metrics gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum "
    "PROGRAM > FILE";
constexpr std::size_t kLongestLine = 4 << 20;
/// Of the machine, alike in every row.
constexpr std::array<std::string_view, 4> kConstant{"device__attribute_", "nvlink__", "numa__", "c2clink__"};

/// Lines of a plain or gzip file.
class Lines {
 public:
  static Result<Lines> open(const std::string& path) {
    errno = 0;
    auto* file = ::gzopen(path.c_str(), "rb");
    if (file == nullptr)
      return base::fail(ErrorCode::io, "{}: {}", path, std::error_code(errno, std::generic_category()).message());
    ::gzbuffer(file, 1 << 14);
    return Lines(file);
  }

  /// Without its end; longer ones than kLongestLine are cut. False at the end.
  bool next(std::string& line) {
    line.clear();
    std::array<char, 8192> piece;
    while (::gzgets(file_.get(), piece.data(), static_cast<int>(piece.size())) != nullptr) {
      const std::string_view got(piece.data());
      if (line.size() < kLongestLine) line += got;
      if (got.ends_with('\n')) break;
    }
    const bool any = !line.empty();
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    return any;
  }

 private:
  struct Close {
    void operator()(gzFile file) const { ::gzclose(file); }
  };
  explicit Lines(gzFile file) : file_(file) {}
  std::unique_ptr<std::remove_pointer_t<gzFile>, Close> file_;
};

/// The values of a line of CSV; "" inside quotes is a quote.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        out.back() += '"';
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (line[i] == ',' && !quoted) {
      out.emplace_back();
    } else {
      out.back() += line[i];
    }
  }
  return out;
}

std::int64_t whole_number(std::string_view text) {
  std::int64_t value = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// "(256, 1, 1)"
Dim3 extent_of(std::string_view text) {
  Dim3 out;
  std::int32_t* const places[] = {&out.x, &out.y, &out.z};
  std::size_t at = 0;
  for (const char* next = text.data(); next < text.data() + text.size() && at < 3;) {
    const auto [end, error] = std::from_chars(next, text.data() + text.size(), *places[at]);
    if (error == std::errc()) {
      ++at;
      next = end;
    } else {
      ++next;
    }
  }
  return out;
}

class NcuReader {
 public:
  explicit NcuReader(KernelCounters& out) : out_(out) {}

  [[nodiscard]] bool has_header() const noexcept { return !columns_.empty(); }

  bool take_header(const std::string& line) {
    if (!line.starts_with("\"ID\"") && !line.starts_with("ID,")) return false;
    auto cells = cells_of(line);
    if (std::find(cells.begin(), cells.end(), "Kernel Name") == cells.end()) return false;
    columns_.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) columns_.emplace(cells[i], i);
    is_long_ = columns_.count("Metric Name") != 0;
    names_ = std::move(cells);
    waits_for_units_ = !is_long_;
    processes_.clear();
    row_ = kNoRow;
    return true;
  }

  void take(const std::string& line) {
    if (line.empty() || line.front() != '"') return;  // of the program, or of ncu
    auto cells = cells_of(line);
    if (cells.size() != names_.size()) {
      ++left_out;
      return;
    }
    if (waits_for_units_ && cells.front().empty()) {
      units_ = std::move(cells);
      waits_for_units_ = false;
      return;
    }
    waits_for_units_ = false;
    if (is_long_)
      take_long(cells);
    else
      take_wide(cells);
  }

  std::size_t left_out = 0;
  /// Launches whose values came before.
  [[nodiscard]] std::size_t repeated() const { return repeated_.size(); }
  /// Values that are no numbers, or negative, of metrics whose other values are.
  [[nodiscard]] std::size_t no_numbers() const {
    std::size_t count = 0;
    for (const auto& [name, times] : no_numbers_) count += metrics_.contains(name) ? times : 0;
    return count;
  }

 private:
  static constexpr auto kNoRow = static_cast<std::size_t>(-1);

  [[nodiscard]] std::string_view cell(const std::vector<std::string>& cells, std::string_view column) const {
    const auto found = columns_.find(column);
    return found == columns_.end() ? std::string_view() : std::string_view(cells[found->second]);
  }

  /// The row of the launch that a line is of. Another table is of another report: launches of the same program have the
  /// same numbers there, but are of another process.
  void find_row(const std::vector<std::string>& cells) {
    const auto text = [&](std::string_view column) { return std::string(cell(cells, column)); };
    const auto process = processes_.try_emplace(text("Process ID"), processes_.size()).first->second;
    const auto [found, is_new] = rows_.try_emplace(
        {text("ID"), text("Kernel Name"), text("Grid Size"), text("Block Size"), process}, out_.size());
    if (is_new) add_row(cells);
    // Lines of the long form follow each other.
    if (is_new || !is_long_ || found->second != row_) is_there_already_ = !is_new;
    row_ = found->second;
  }

  void add_row(const std::vector<std::string>& cells) {
    out_.process.push_back(whole_number(cell(cells, "Process ID")));
    out_.process_name.push_back(out_.strings.id(cell(cells, "Process Name")));
    out_.name.push_back(out_.strings.id(cell(cells, "Kernel Name")));
    out_.device.push_back(static_cast<std::int32_t>(whole_number(cell(cells, "Device"))));
    out_.context.push_back(whole_number(cell(cells, "Context")));
    out_.stream.push_back(whole_number(cell(cells, "Stream")));
    out_.grid.push_back(extent_of(cell(cells, "Grid Size")));
    out_.block.push_back(extent_of(cell(cells, "Block Size")));
  }

  void put(const std::string& name, std::string_view unit_text, std::string_view text) {
    const auto value = printed_number(text);
    if (!value || *value < 0) {  // what counts or measures is never below 0
      if (!text.empty()) ++no_numbers_[name];
      return;
    }
    const auto unit = unit_of(unit_text);
    auto [found, is_new] = metrics_.try_emplace(name, out_.metrics.size());
    // The details page has two of one name: "Memory Throughput" in percent, and in bytes a second.
    if (!is_new && out_.metrics[found->second].unit != unit.base)
      std::tie(found, is_new) = metrics_.try_emplace(fmt::format("{} ({})", name, unit.base), out_.metrics.size());
    if (is_new) out_.metrics.push_back({found->first, unit.base, {}});
    auto& values = out_.metrics[found->second].values;
    values.resize(out_.size(), std::numeric_limits<double>::quiet_NaN());
    if (is_there_already_ && !std::isnan(values[row_])) {
      repeated_.insert(row_);
      return;
    }
    values[row_] = *value * unit.factor;
  }

  void take_wide(const std::vector<std::string>& cells) {
    find_row(cells);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto& name = names_[i];
      if (name.find("__") == std::string::npos) continue;
      if (std::any_of(kConstant.begin(), kConstant.end(), [&](auto prefix) { return name.starts_with(prefix); }))
        continue;
      put(name, i < units_.size() ? std::string_view(units_[i]) : std::string_view(), cells[i]);
    }
  }

  void take_long(const std::vector<std::string>& cells) {
    find_row(cells);
    const std::string name(cell(cells, "Metric Name"));
    if (!name.empty()) put(name, cell(cells, "Metric Unit"), cell(cells, "Metric Value"));
  }

  KernelCounters& out_;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<std::string> names_;
  std::vector<std::string> units_;
  std::map<std::string, std::size_t> metrics_;
  std::map<std::string, std::size_t> no_numbers_;  ///< by metric
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::size_t>, std::size_t> rows_;
  std::map<std::string, std::size_t> processes_;  ///< of a table, by their order
  std::set<std::size_t> repeated_;                ///< rows
  std::size_t row_ = kNoRow;                      ///< of the line before
  bool is_there_already_ = false;                 ///< earlier in the file
  bool is_long_ = false;
  bool waits_for_units_ = false;
};

}  // namespace

Result<KernelCounters> import_ncu(const std::string& path) {
  RL_TRY_ASSIGN(auto lines, Lines::open(path));
  KernelCounters out;
  NcuReader reader(out);
  std::string line;
  while (lines.next(line))
    if (!reader.take_header(line) && reader.has_header()) reader.take(line);
  if (!reader.has_header())
    return base::fail(ErrorCode::unsupported, "{}: no table of ncu (a line that begins with \"ID\")", path)
        .hint("{}", kRecordWithNcu);
  if (out.size() == 0) return base::fail(ErrorCode::unsupported, "{}: no kernels", path).hint("{}", kRecordWithNcu);
  for (auto& metric : out.metrics) metric.values.resize(out.size(), std::numeric_limits<double>::quiet_NaN());
  if (reader.left_out > 0) out.notes.push_back(messages::uneven_lines(static_cast<std::int64_t>(reader.left_out)));
  if (reader.repeated() > 0)
    out.notes.push_back(messages::repeated_launches(static_cast<std::int64_t>(reader.repeated())));
  if (reader.no_numbers() > 0)
    out.notes.push_back(messages::no_numbers(static_cast<std::int64_t>(reader.no_numbers())));
  return out;
}

}  // namespace ridgeline::trace
