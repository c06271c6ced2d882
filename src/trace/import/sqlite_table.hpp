// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace ridgeline::trace {

class SqliteRows;

/// A database that another program wrote, opened for reading only.
class SqliteFile {
 public:
  /// Errors: not_found, io; unsupported where the file is no database.
  [[nodiscard]] static base::Result<SqliteFile> open(const std::string& path);
  SqliteFile(SqliteFile&&) noexcept;
  ~SqliteFile();

  [[nodiscard]] bool has_table(std::string_view name) const;
  [[nodiscard]] bool has_column(const std::string& table, const std::string& column) const;
  /// Names, in the order of the file. Errors: corrupt.
  [[nodiscard]] base::Result<std::vector<std::string>> tables() const;
  /// Rows of a table. Errors: corrupt.
  [[nodiscard]] base::Result<std::int64_t> rows(const std::string& table) const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  friend class SqliteRows;
  SqliteFile(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  [[nodiscard]] base::Result<SqliteRows> query(const std::string& text) const;
  [[nodiscard]] base::Fault fault() const;

  sqlite3* handle_;
  std::string path_;
};

/// The rows of a table in its own order, with the columns that are asked for by name; one that the table lacks is null
/// in every row, a table that is not there has no rows.
class SqliteRows {
 public:
  /// Errors: corrupt.
  [[nodiscard]] static base::Result<SqliteRows> of(const SqliteFile& file, const std::string& table,
                                                   const std::vector<std::string>& columns);
  SqliteRows(SqliteRows&&) noexcept;
  ~SqliteRows();

  /// False behind the last row. Errors: corrupt.
  [[nodiscard]] base::Result<bool> next();
  /// nullopt: null, or no number.
  [[nodiscard]] std::optional<std::int64_t> integer(int column) const;
  [[nodiscard]] std::int64_t integer_or(int column, std::int64_t other) const {
    return integer(column).value_or(other);
  }
  /// Valid until the next row; "" where it is null.
  [[nodiscard]] std::string_view text(int column) const;

 private:
  friend class SqliteFile;
  SqliteRows(const SqliteFile* file, sqlite3_stmt* statement) : file_(file), statement_(statement) {}

  const SqliteFile* file_;
  sqlite3_stmt* statement_;  ///< null: no rows
};

}  // namespace ridgeline::trace
