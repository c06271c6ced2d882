// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_csv.hpp"

#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/json.hpp"

namespace ridgeline::report {
namespace {

std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_cell(const std::string& text) { return csv_quoted(text); }
std::string csv_cell(std::int64_t number) { return fmt::format("{}", number); }
std::string csv_cell(std::int32_t number) { return fmt::format("{}", number); }
std::string csv_cell(double number) { return fmt::format("{:.17g}", number); }
/// -1 stands for unknown.
std::string known_cell(std::int64_t number) { return number < 0 ? std::string() : fmt::format("{}", number); }

template <typename... Cells>
void add_line(std::string& out, const Cells&... cells) {
  std::string separator;
  ((out += separator + cells, separator = ","), ...);
  out += "\n";
}

std::string kernels_csv(const std::vector<schema::ProfileKernel>& rows) {
  std::set<std::string> metrics;
  for (const auto& row : rows)
    for (const auto& counter : row.counters) metrics.insert(counter.name);
  std::string out =
      "name,calls,total_ns,least_ns,most_ns,bytes,module,grid_x,grid_y,grid_z,block_x,block_y,block_z,registers,"
      "shared_bytes,bytes_ns,bytes_source,line";
  for (const auto& metric : metrics) out += "," + csv_quoted(metric);
  out += "\n";
  for (const auto& row : rows) {
    std::string line;
    add_line(line, csv_cell(row.name), csv_cell(row.calls), csv_cell(row.total_ns), csv_cell(row.least_ns),
             csv_cell(row.most_ns), known_cell(row.bytes), csv_cell(row.module), csv_cell(row.grid[0]),
             csv_cell(row.grid[1]), csv_cell(row.grid[2]), csv_cell(row.block[0]), csv_cell(row.block[1]),
             csv_cell(row.block[2]), csv_cell(row.registers), csv_cell(row.shared_bytes), known_cell(row.bytes_ns),
             csv_cell(std::string(base::enum_name(row.bytes_source))), csv_cell(row.line));
    line.pop_back();
    std::map<std::string_view, double> means;
    for (const auto& counter : row.counters) means[counter.name] = counter.mean();
    for (const auto& metric : metrics) {
      const auto found = means.find(metric);
      line += "," + (found == means.end() ? std::string() : csv_cell(found->second));
    }
    out += line + "\n";
  }
  return out;
}

/// A sum only of what adds up: not of rates and shares.
std::string counters_csv(const std::vector<schema::ProfileKernel>& rows) {
  std::string out = "kernel,metric,unit,launches,sum,mean,min,max\n";
  for (const auto& row : rows)
    for (const auto& counter : row.counters)
      add_line(out, csv_cell(row.name), csv_cell(counter.name), csv_cell(counter.unit), csv_cell(counter.launches),
               counter.name.ends_with(".sum") ? csv_cell(counter.sum) : std::string(), csv_cell(counter.mean()),
               csv_cell(counter.least), csv_cell(counter.most));
  return out;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> profile_csv(const schema::MessageRenderer& words,
                                                             const schema::ProfileRun& run) {
  const auto& tables = run.tables;
  std::vector<std::pair<std::string, std::string>> files;
  files.emplace_back("kernels.csv", kernels_csv(tables.kernels));
  files.emplace_back("counters.csv", counters_csv(tables.kernels));
  files.emplace_back("copies.csv", kernels_csv(tables.copies));
  std::string modules =
      "path,calls,self_ns,total_ns,bytes,flops,backward_ns,kernels,host_self_ns,host_total_ns,kind,name,bytes_ns,"
      "bytes_source,tensor_ns,tensor_of_ns,line\n";
  const bool has_gpu = !tables.devices.empty();
  for (const auto& row : tables.modules)
    add_line(modules, csv_cell(row.path), csv_cell(row.calls), csv_cell(has_gpu ? row.gpu_self_ns : row.host_self_ns),
             csv_cell(has_gpu ? row.gpu_total_ns : row.host_total_ns), known_cell(row.bytes), known_cell(row.flops),
             csv_cell(row.backward_ns), csv_cell(row.kernels), csv_cell(row.host_self_ns), csv_cell(row.host_total_ns),
             std::string(base::enum_name(row.kind)), csv_cell(row.name), known_cell(row.bytes_ns),
             std::string(base::enum_name(row.bytes_source)), known_cell(row.tensor_ns), known_cell(row.tensor_of_ns),
             csv_cell(row.line));
  files.emplace_back("modules.csv", std::move(modules));
  std::string lines = "line,kernels,copies,work_ns,waits,waited_ns\n";
  for (const auto& row : tables.lines)
    add_line(lines, csv_cell(row.line), csv_cell(row.kernels), csv_cell(row.copies), csv_cell(row.work_ns),
             csv_cell(row.waits), csv_cell(row.waited_ns));
  files.emplace_back("lines.csv", std::move(lines));
  std::string nodes = "name,operation,provider,module,calls,total_ns,bytes,flops,bytes_ns,bytes_source\n";
  for (const auto& row : tables.nodes)
    add_line(nodes, csv_cell(row.name), csv_cell(row.operation), csv_cell(row.provider), csv_cell(row.module),
             csv_cell(row.calls), csv_cell(row.total_ns), known_cell(row.bytes), known_cell(row.flops),
             known_cell(row.bytes_ns), std::string(base::enum_name(row.bytes_source)));
  files.emplace_back("nodes.csv", std::move(nodes));
  std::string graphs =
      "name,module,nodes,launches,read_bytes,write_bytes,l2_bytes,total_ns,tensor_share,bytes_source\n";
  for (const auto& row : tables.graphs)
    add_line(graphs, csv_cell(row.name), csv_cell(row.module), csv_cell(row.nodes), csv_cell(row.launches),
             known_cell(row.read_bytes), known_cell(row.write_bytes), known_cell(row.l2_bytes),
             known_cell(row.total_ns), row.tensor_share < 0 ? std::string() : csv_cell(row.tensor_share),
             std::string(base::enum_name(row.bytes_source)));
  files.emplace_back("graphs.csv", std::move(graphs));
  std::string bytes = "source,first_step,last_step,second_run,launches,kernel_ns\n";
  for (const auto& row : tables.bytes)
    add_line(bytes, std::string(base::enum_name(row.source)), csv_cell(row.first_step), csv_cell(row.last_step),
             csv_cell(std::int64_t{row.second_run}), csv_cell(row.launches), csv_cell(row.kernel_ns));
  files.emplace_back("bytes.csv", std::move(bytes));
  std::string devices =
      "process,device,name,multiprocessors,kernels,span_ns,busy_ns,kernel_ns,copy_ns,both_ns,streams,critical_stream,"
      "critical_ns,"
      "collective_ns,exposed_ns,graph_launches\n";
  std::string idle = "process,device,cause,gaps,total_ns,longest_ns\n";
  for (const auto& row : tables.devices) {
    add_line(devices, csv_cell(row.process), csv_cell(row.device), csv_cell(row.name), csv_cell(row.multiprocessors),
             csv_cell(row.kernels), csv_cell(row.span_ns), csv_cell(row.busy_ns), csv_cell(row.kernel_ns),
             csv_cell(row.copy_ns), csv_cell(row.both_ns), csv_cell(row.streams), csv_cell(row.critical_stream),
             csv_cell(row.critical_ns), csv_cell(row.collective_ns), csv_cell(row.exposed_ns),
             csv_cell(row.graph_launches));
    for (const auto& one : row.idle)
      add_line(idle, csv_cell(row.process), csv_cell(row.device), std::string(base::enum_name(one.cause)),
               csv_cell(one.gaps), csv_cell(one.total_ns), csv_cell(one.longest_ns));
  }
  files.emplace_back("devices.csv", std::move(devices));
  files.emplace_back("idle.csv", std::move(idle));
  std::string steps = "name,start_ns,duration_ns,work_ns,kernels,left_out\n";
  for (const auto& row : tables.steps)
    add_line(steps, csv_cell(row.name), csv_cell(row.start_ns), csv_cell(row.duration_ns), csv_cell(row.work_ns),
             csv_cell(row.kernels), csv_cell(std::int64_t{row.left_out}));
  files.emplace_back("steps.csv", std::move(steps));
  std::string memory = "time_ns,device,allocated_bytes,reserved_bytes\n";
  for (const auto& row : tables.memory)
    for (const auto& point : row.series)
      add_line(memory, csv_cell(point.time_ns), csv_cell(row.device), csv_cell(point.allocated_bytes),
               csv_cell(point.reserved_bytes));
  files.emplace_back("memory.csv", std::move(memory));
  std::string findings =
      "rule,title,module,saving_ns,saving_share,computed,advice,measured_share,measured_low,measured_high,line\n";
  const auto measured_cell = [](const schema::ProfileFinding& row, double stats::Estimate::*part) {
    const bool has = row.verification && row.verification->comparison;
    return has ? csv_cell(row.verification->saving().*part) : std::string();
  };
  for (const auto& row : run.findings)
    add_line(findings, csv_cell(row.rule()), csv_cell(words.text(row.title)), csv_cell(row.module),
             csv_cell(row.saving_ns), csv_cell(row.saving_share), csv_cell(words.text(row.computed)),
             csv_cell(words.text(row.advice)), measured_cell(row, &stats::Estimate::value),
             measured_cell(row, &stats::Estimate::low), measured_cell(row, &stats::Estimate::high), csv_cell(row.line));
  files.emplace_back("findings.csv", std::move(findings));
  return files;
}

}  // namespace ridgeline::report
