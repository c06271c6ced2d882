// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "store/access.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace ridgeline::store {

class Connection;

/// One prepared statement; bind from 1, columns from 0. Owned by its maker, must not outlive the connection. Texts and
/// blobs are bound without copying: they must live until the last step. A failed bind is reported by the next step.
class Statement {
 public:
  Statement& bind(int index, std::string_view text) noexcept;
  Statement& bind(int index, std::int64_t value) noexcept;
  Statement& bind(int index, double value) noexcept;
  Statement& bind_null(int index) noexcept;
  Statement& bind_blob(int index, std::string_view bytes) noexcept;

  /// True: a row is there. False: done.
  [[nodiscard]] base::Result<bool> step();
  /// For statements without rows.
  [[nodiscard]] base::Result<void> run();

  /// Valid until the next step.
  [[nodiscard]] std::string_view text(int column) const noexcept;
  [[nodiscard]] std::string_view blob(int column) const noexcept;
  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  [[nodiscard]] double real(int column) const noexcept;
  [[nodiscard]] bool is_null(int column) const noexcept;

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  Statement(const Connection& connection, sqlite3_stmt* statement) : connection_(&connection), statement_(statement) {}
  void note(int code) noexcept;

  const Connection* connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bind_code_ = 0;
};

/// Rolled back unless committed. For writing it takes the write lock at once, because a later upgrade from a read lock
/// could not wait for it.
class Transaction {
 public:
  Transaction(Transaction&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  [[nodiscard]] base::Result<void> commit();

 private:
  friend class Connection;
  explicit Transaction(const Connection& connection) : connection_(&connection) {}
  const Connection* connection_;
};

/// One open SQLite file. One thread at a time. Must be closed before a fork and opened anew in the child.
/// Every SQLite code becomes one of: unavailable (locked), corrupt (damaged, not a database), io (disk full, read-only,
/// cannot open), out_of_memory, internal; the message names the file.
class Connection {
 public:
  using Prepare = std::function<base::Result<void>(Connection&)>;

  /// Creates the file when missing. Errors also when it is read-only: results must be written.
  [[nodiscard]] static base::Result<std::unique_ptr<Connection>> open(const std::filesystem::path& path,
                                                                      std::chrono::milliseconds busy_timeout);
  /// As open, and `prepare` before its first use. A file that is missing is created no earlier than that: whoever ends
  /// with a fault before there is anything to keep leaves none behind. For reading it is never created.
  [[nodiscard]] static base::Result<std::unique_ptr<Connection>> open_for_use(const std::filesystem::path& path,
                                                                              std::chrono::milliseconds busy_timeout,
                                                                              Access access, Prepare prepare);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// False: nothing was ever kept in this file, and looking it up would only create it.
  [[nodiscard]] bool is_there() const noexcept;
  /// Opened for reading, by a caller who may not write the file or its folder.
  [[nodiscard]] bool read_only() const noexcept { return read_only_; }
  [[nodiscard]] std::chrono::milliseconds busy_timeout() const noexcept { return busy_timeout_; }
  [[nodiscard]] base::Result<Statement> prepare(std::string_view sql) const;
  /// Any number of statements without parameters, rows ignored.
  [[nodiscard]] base::Result<void> execute(const std::string& sql) const;
  /// First column of the first row.
  [[nodiscard]] base::Result<std::int64_t> query_integer(std::string_view sql) const;
  [[nodiscard]] base::Result<std::string> query_text(std::string_view sql) const;
  [[nodiscard]] base::Result<Transaction> begin() const;
  /// All reads until its end see one state; takes no lock that others wait for.
  [[nodiscard]] base::Result<Transaction> begin_read() const;

  /// The error of a failed SQLite call.
  [[nodiscard]] base::Error error(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const noexcept;
  };
  Connection(std::filesystem::path path, std::chrono::milliseconds busy_timeout)
      : path_(std::move(path)), busy_timeout_(busy_timeout) {}

  [[nodiscard]] base::Result<void> open_now();
  [[nodiscard]] base::Result<void> open_handle(const std::string& name, int flags);
  [[nodiscard]] base::Result<void> open_read_only();
  /// Opened, and prepared.
  [[nodiscard]] base::Result<void> ready() const;

  std::filesystem::path path_;
  std::chrono::milliseconds busy_timeout_;
  std::unique_ptr<sqlite3, Close> handle_;
  Prepare prepare_;
  Access access_ = Access::write;
  bool read_only_ = false;
};

}  // namespace ridgeline::store
