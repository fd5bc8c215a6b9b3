#include "tlm/platform/sweep/sqlite.h"

#include <stdexcept>

#include "tlm/platform/files.h"

namespace dvp::platform::sweep {

namespace {

constexpr int longest_wait_ms = 5000;

}  // namespace

connection::connection(const std::string& path, bool create) : path_(path) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), nullptr);
  handle_.reset(handle);
  if (handle == nullptr) throw std::bad_alloc();
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, longest_wait_ms);
  if (code != SQLITE_OK) fail(code);
}

void connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::uint64_t connection::changed() const {
  return static_cast<std::uint64_t>(sqlite3_changes64(handle_.get()));
}

statement connection::prepare(const std::string& sql) {
  return {*this, handle_.get(), sql};
}

void connection::fail(int code) const {
  const std::string file = path_ + ": ";
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      throw usage_error(file + "is no database, or a damaged one; give another file, or remove it to start again");
    case SQLITE_CANTOPEN:
      throw usage_error(file + "cannot be opened as a database; check the path and its folder");
    case SQLITE_READONLY:
      throw usage_error(file + "cannot be written; check the rights of the file and its folder");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw std::runtime_error(file + "is locked by another program; end that one, then give the same command again");
    case SQLITE_FULL:
      throw std::runtime_error(file + "the disk is full; make room, then give the same command again, which goes on");
    case SQLITE_IOERR:
      throw std::runtime_error(file + "cannot be read or written whole (" + sqlite3_errmsg(handle_.get()) +
                               "); is the disk full? The same command goes on where this one ended");
    default:
      throw std::runtime_error(file + sqlite3_errmsg(handle_.get()));
  }
}

statement::statement(const connection& owner, sqlite3* database, const std::string& sql) : owner_(&owner) {
  sqlite3_stmt* handle = nullptr;
  check(sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &handle, nullptr));
  handle_.reset(handle);
}

void statement::check(int code) const {
  if (code != SQLITE_OK) owner_->fail(code);
}

statement& statement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(handle_.get(), ++bound_, value));
  return *this;
}

statement& statement::bind(double value) {
  check(sqlite3_bind_double(handle_.get(), ++bound_, value));
  return *this;
}

statement& statement::bind(const std::string& text) {
  check(sqlite3_bind_text64(handle_.get(), ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

statement& statement::bind(std::nullptr_t) {
  check(sqlite3_bind_null(handle_.get(), ++bound_));
  return *this;
}

bool statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) owner_->fail(code);
  return false;
}

void statement::run() {
  while (step()) {
  }
  check(sqlite3_reset(handle_.get()));
  bound_ = 0;
}

std::string statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

std::optional<double> statement::number(int column) const {
  if (sqlite3_column_type(handle_.get(), column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_double(handle_.get(), column);
}

transaction::~transaction() {
  if (database_ == nullptr) return;
  try {
    database_->execute("ROLLBACK");
  } catch (const std::exception&) {
    // SQLite rolled it back by itself: a full disk, for example.
  }
}

void transaction::commit() {
  database_->execute("COMMIT");
  database_ = nullptr;
}

}  // namespace dvp::platform::sweep
