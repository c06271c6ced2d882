// SPDX-License-Identifier: Apache-2.0
#include "trace/import/sqlite_table.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/ranges.h>

#include "trace/import/message_text.hpp"

namespace ridgeline::trace {

using base::ErrorCode;
using base::Result;

namespace {

/// As an identifier of SQL.
std::string identifier(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

}  // namespace

base::Fault SqliteFile::fault() const {
  return base::fail(ErrorCode::corrupt, "{}: cannot be read: {}", path_, message_text(::sqlite3_errmsg(handle_)));
}

Result<SqliteFile> SqliteFile::open(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return base::fail(ErrorCode::not_found, "{}: no such file", path);
  sqlite3* handle = nullptr;
  const int opened = ::sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteFile file(handle, path);
  if (opened != SQLITE_OK) return base::fail(ErrorCode::io, "{}: {}", path, message_text(::sqlite3_errmsg(handle)));
  // What a hostile schema could bring in has no business here.
  ::sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  ::sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  ::sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  // The first look at the file finds out whether it is a database.
  sqlite3_stmt* statement = nullptr;
  const int looked = ::sqlite3_prepare_v2(handle, "SELECT count(*) FROM sqlite_master", -1, &statement, nullptr);
  const bool is_database = looked == SQLITE_OK && ::sqlite3_step(statement) == SQLITE_ROW;
  ::sqlite3_finalize(statement);
  if (!is_database)
    return base::fail(ErrorCode::unsupported, "{}: not an SQLite database ({})", path,
                      message_text(::sqlite3_errmsg(handle)));
  return file;
}

SqliteFile::SqliteFile(SqliteFile&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

SqliteFile::~SqliteFile() { ::sqlite3_close(handle_); }

bool SqliteFile::has_table(std::string_view name) const {
  return ::sqlite3_table_column_metadata(handle_, nullptr, std::string(name).c_str(), nullptr, nullptr, nullptr,
                                         nullptr, nullptr, nullptr) == SQLITE_OK;
}

bool SqliteFile::has_column(const std::string& table, const std::string& column) const {
  return ::sqlite3_table_column_metadata(handle_, nullptr, table.c_str(), column.c_str(), nullptr, nullptr, nullptr,
                                         nullptr, nullptr) == SQLITE_OK;
}

Result<SqliteRows> SqliteFile::query(const std::string& text) const {
  sqlite3_stmt* statement = nullptr;
  if (::sqlite3_prepare_v2(handle_, text.c_str(), -1, &statement, nullptr) != SQLITE_OK) return fault();
  return SqliteRows(this, statement);
}

Result<std::vector<std::string>> SqliteFile::tables() const {
  std::vector<std::string> names;
  RL_TRY_ASSIGN(auto rows, query("SELECT name FROM sqlite_master WHERE type = 'table'"));
  for (;;) {
    RL_TRY_ASSIGN(const bool more, rows.next());
    if (!more) return names;
    names.emplace_back(rows.text(0));
  }
}

Result<std::int64_t> SqliteFile::rows(const std::string& table) const {
  RL_TRY_ASSIGN(auto rows, query("SELECT count(*) FROM " + identifier(table)));
  RL_TRY_ASSIGN(const bool more, rows.next());
  return more ? rows.integer_or(0, 0) : 0;
}

Result<SqliteRows> SqliteRows::of(const SqliteFile& file, const std::string& table,
                                  const std::vector<std::string>& columns) {
  if (!file.has_table(table)) return SqliteRows(&file, nullptr);
  std::vector<std::string> selected;
  for (const auto& column : columns) selected.push_back(file.has_column(table, column) ? identifier(column) : "NULL");
  return file.query(fmt::format("SELECT {} FROM {}", fmt::join(selected, ", "), identifier(table)));
}

SqliteRows::SqliteRows(SqliteRows&& other) noexcept
    : file_(other.file_), statement_(std::exchange(other.statement_, nullptr)) {}

SqliteRows::~SqliteRows() { ::sqlite3_finalize(statement_); }

Result<bool> SqliteRows::next() {
  if (statement_ == nullptr) return false;
  const int step = ::sqlite3_step(statement_);
  if (step == SQLITE_ROW) return true;
  if (step == SQLITE_DONE) return false;
  return file_->fault();
}

std::optional<std::int64_t> SqliteRows::integer(int column) const {
  const int type = ::sqlite3_column_type(statement_, column);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return std::nullopt;
  return ::sqlite3_column_int64(statement_, column);
}

std::string_view SqliteRows::text(int column) const {
  const auto* bytes = ::sqlite3_column_text(statement_, column);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(::sqlite3_column_bytes(statement_, column))};
}

}  // namespace ridgeline::trace
