// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ridgeline::store {

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

void Statement::note(int code) noexcept {
  if (bind_code_ == SQLITE_OK) bind_code_ = code;
}

Statement& Statement::bind(int index, std::string_view text) noexcept {
  // A null pointer would bind NULL; an empty text is not NULL.
  note(sqlite3_bind_text64(statement_.get(), index, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                           SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(int index, std::int64_t value) noexcept {
  note(sqlite3_bind_int64(statement_.get(), index, value));
  return *this;
}

Statement& Statement::bind(int index, double value) noexcept {
  note(sqlite3_bind_double(statement_.get(), index, value));
  return *this;
}

Statement& Statement::bind_null(int index) noexcept {
  note(sqlite3_bind_null(statement_.get(), index));
  return *this;
}

Statement& Statement::bind_blob(int index, std::string_view bytes) noexcept {
  note(sqlite3_bind_blob64(statement_.get(), index, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_STATIC));
  return *this;
}

base::Result<bool> Statement::step() {
  if (bind_code_ != SQLITE_OK) return tl::unexpected<base::Error>(connection_->error(bind_code_));
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected<base::Error>(connection_->error(code));
}

base::Result<void> Statement::run() {
  RL_TRY(step());
  return {};
}

std::string_view Statement::text(int column) const noexcept {
  const auto* data = sqlite3_column_text(statement_.get(), column);
  const auto size = sqlite3_column_bytes(statement_.get(), column);
  return data ? std::string_view(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size))
              : std::string_view();
}

std::string_view Statement::blob(int column) const noexcept {
  const auto* data = sqlite3_column_blob(statement_.get(), column);
  const auto size = sqlite3_column_bytes(statement_.get(), column);
  return data ? std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size)) : std::string_view();
}

std::int64_t Statement::integer(int column) const noexcept { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const noexcept { return sqlite3_column_double(statement_.get(), column); }
bool Statement::is_null(int column) const noexcept {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Transaction::~Transaction() {
  // Nothing to report: the caller already has the error that kept it from committing.
  if (connection_) static_cast<void>(connection_->execute("ROLLBACK"));
}

base::Result<void> Transaction::commit() {
  // A commit that found the database locked or full leaves the transaction open: the destructor ends it.
  RL_TRY(connection_->execute("COMMIT"));
  connection_ = nullptr;
  return {};
}

namespace {

/// Makes the folders, so that a path which can never hold a file is reported at once.
bool can_be_made(const std::filesystem::path& path) {
  std::error_code failed;
  const auto folder = std::filesystem::absolute(path, failed).parent_path();
  std::filesystem::create_directories(folder, failed);
  return !failed && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

/// Why a file that is not there cannot be made, as far as its folder tells. SQLite tries to open it for reading once
/// more, and its own reason is then that the file does not exist.
std::string why_not_made(const std::filesystem::path& path, std::string otherwise) {
  std::error_code failed;
  if (std::filesystem::exists(path, failed)) return otherwise;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, failed) || ::access(folder.c_str(), W_OK | X_OK) == 0) return otherwise;
  return std::strerror(errno);
}

/// SQLite writes beside the file that a link leads to.
std::filesystem::path real_file(const std::filesystem::path& path) {
  std::error_code failed;
  auto real = std::filesystem::canonical(path, failed);
  return failed ? path : real;
}

bool can_be_written(const std::filesystem::path& path) {
  const auto file = real_file(path);
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  return ::access(file.c_str(), W_OK) == 0 && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

std::string log_of(const std::filesystem::path& path) { return real_file(path).string() + "-wal"; }

/// An SQLite URI: for options that only a URI can have.
std::string uri_of(const std::filesystem::path& path, std::string_view options) {
  std::error_code ignored;
  std::string uri = "file://";
  for (const char c : std::filesystem::absolute(path, ignored).string())
    uri += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", static_cast<unsigned>(c)) : std::string(1, c);
  return uri.append("?").append(options);
}

base::Error not_a_database(const std::filesystem::path& path) {
  return {base::ErrorCode::corrupt, fmt::format("{} is not a database", path.string()),
          "move it away or pass --db FILE"};
}

}  // namespace

void Connection::Close::operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }

base::Result<std::unique_ptr<Connection>> Connection::open(const std::filesystem::path& path,
                                                           std::chrono::milliseconds busy_timeout) {
  std::unique_ptr<Connection> connection(new Connection(path, busy_timeout));
  RL_TRY(connection->open_now());
  return connection;
}

base::Result<std::unique_ptr<Connection>> Connection::open_for_use(const std::filesystem::path& path,
                                                                   std::chrono::milliseconds busy_timeout,
                                                                   Access access, Prepare prepare) {
  std::unique_ptr<Connection> connection(new Connection(path, busy_timeout));
  connection->access_ = access;
  connection->prepare_ = std::move(prepare);
  if (connection->is_there() || !can_be_made(path)) RL_TRY(connection->ready());
  return connection;
}

bool Connection::is_there() const noexcept {
  std::error_code ignored;
  return handle_ != nullptr || std::filesystem::exists(path_, ignored);
}

base::Result<void> Connection::open_now() {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored))
    return base::fail(base::ErrorCode::io, "database {} is a directory, expected a file", path_.string())
        .hint("pass --db FILE");
  if (access_ != Access::write && !std::filesystem::exists(path_, ignored))
    return base::fail(base::ErrorCode::not_found, "database {} does not exist, expected one that a run made",
                      path_.string())
        .hint("pass --db FILE");
  // SQLite takes a file that is shorter than its header for an empty database and would write over it.
  constexpr std::uintmax_t kHeaderBytes = 100;
  if (const auto size = std::filesystem::file_size(path_, ignored); !ignored && size > 0 && size < kHeaderBytes)
    return tl::unexpected<base::Error>(not_a_database(path_));
  read_only_ = access_ == Access::peek || (access_ == Access::read && !can_be_written(path_));
  if (read_only_) return open_read_only();
  if (const auto folder = path_.parent_path(); !folder.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
      return base::fail(base::ErrorCode::io, "cannot create the folder of database {}: {}", path_.string(),
                        failed.message())
          .hint("pass --db FILE");
  }
  RL_TRY(open_handle(path_.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  if (sqlite3_db_readonly(handle_.get(), "main") == 1)
    return base::fail(base::ErrorCode::io, "database {} is read-only, expected a writable file", path_.string())
        .hint("check its permissions or pass --db FILE");
  return {};
}

base::Result<void> Connection::open_read_only() {
  // Without a log nobody has the file open for writing and it is whole by itself. SQLite would still make a log and its
  // index beside it, or fail where it cannot, unless the file is called immutable.
  std::error_code ignored;
  const bool in_use = std::filesystem::exists(log_of(path_), ignored);
  return open_handle(uri_of(path_, in_use ? "mode=ro" : "immutable=1"), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

base::Result<void> Connection::open_handle(const std::string& name, int flags) {
  sqlite3* handle = nullptr;
  errno = 0;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(handle);
  if (!handle) return base::fail(base::ErrorCode::out_of_memory, "no memory to open database {}", path_.string());
  sqlite3_extended_result_codes(handle, 1);
  if (code != SQLITE_OK) return tl::unexpected<base::Error>(error(code));
  sqlite3_busy_timeout(handle, static_cast<int>(busy_timeout_.count()));
  return {};
}

base::Result<void> Connection::ready() const {
  if (handle_) return {};
  auto& self = const_cast<Connection&>(*this);  // opening late is no change that a caller sees
  auto opened = self.open_now();
  if (opened && prepare_) opened = prepare_(self);
  if (!opened) self.handle_.reset();
  return opened;
}

base::Result<Statement> Connection::prepare(std::string_view sql) const {
  RL_TRY(ready());
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return tl::unexpected<base::Error>(error(code));
  return Statement(*this, statement);
}

base::Result<void> Connection::execute(const std::string& sql) const {
  RL_TRY(ready());
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return tl::unexpected<base::Error>(error(code));
  return {};
}

base::Result<std::int64_t> Connection::query_integer(std::string_view sql) const {
  RL_TRY_ASSIGN(auto statement, prepare(sql));
  RL_TRY_ASSIGN(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

base::Result<std::string> Connection::query_text(std::string_view sql) const {
  RL_TRY_ASSIGN(auto statement, prepare(sql));
  RL_TRY_ASSIGN(const bool row, statement.step());
  return row ? std::string(statement.text(0)) : std::string();
}

base::Result<Transaction> Connection::begin() const {
  RL_TRY(execute("BEGIN IMMEDIATE"));
  return Transaction(*this);
}

base::Result<Transaction> Connection::begin_read() const {
  RL_TRY(execute("BEGIN"));
  return Transaction(*this);
}

base::Error Connection::error(int code) const {
  using base::ErrorCode;
  const auto path = path_.string();
  const std::string detail = sqlite3_errmsg(handle_.get());
  const int system_error = sqlite3_system_errno(handle_.get());
  const std::string reason = system_error != 0 ? std::strerror(system_error) : detail;
  base::Error no_space{ErrorCode::io, fmt::format("no space left for database {}", path),
                       "free some, or pass --db FILE on another disk"};
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::unavailable,
              fmt::format("database {} has been locked by another process for more than {:.3g} s", path,
                          std::chrono::duration<double>(busy_timeout_).count()),
              "try again once it has ended"};
    case SQLITE_NOTADB: return not_a_database(path_);
    case SQLITE_CORRUPT:
      return {ErrorCode::corrupt, fmt::format("database {} is damaged ({})", path, detail),
              "move it away, or rescue it with sqlite3's .recover"};
    case SQLITE_FULL: return no_space;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorCode::io, fmt::format("database {} or its folder is read-only ({})", path, reason),
              "check permissions or pass --db FILE"};
    case SQLITE_CANTOPEN:
      if (std::error_code ignored; read_only_ && std::filesystem::exists(log_of(path_), ignored))
        return {
            ErrorCode::io,
            fmt::format("database {} has changes in {} that only who may write there can read", path, log_of(path_)),
            fmt::format("run `ridgeline history --db {}` once as its owner", path)};
      return {ErrorCode::io, fmt::format("cannot open database {} ({})", path, why_not_made(path_, reason)),
              "check its folder or pass --db FILE"};
    case SQLITE_IOERR:
      if (system_error == ENOSPC || system_error == EDQUOT) return no_space;
      return {ErrorCode::io, fmt::format("cannot read or write database {}: {}", path, reason)};
    case SQLITE_NOMEM: return {ErrorCode::out_of_memory, fmt::format("no memory for database {}", path)};
    case SQLITE_TOOBIG: return {ErrorCode::io, fmt::format("a record is too large for database {}: {}", path, detail)};
    default: return {ErrorCode::internal, fmt::format("database {}: {} (SQLite code {})", path, detail, code)};
  }
}

}  // namespace ridgeline::store
