// SQLite as objects that close themselves and faults that are sentences.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace dvp::platform::sweep {

class statement;

// A database file. Every fault of SQLite is thrown as one sentence with the file's name: usage_error for a file that is
// no database or a damaged one, std::runtime_error for one that is locked for longer than five seconds, a full disk,
// and the rest.
class connection {
 public:
  // create: make the file where there is none.
  connection(const std::string& path, bool create);

  void execute(const std::string& sql);  // one or several statements, results unread
  statement prepare(const std::string& sql);
  std::uint64_t changed() const;  // rows, by the statement before
  std::int64_t last_row() const { return sqlite3_last_insert_rowid(handle_.get()); }

  const std::string& path() const { return path_; }
  [[noreturn]] void fail(int code) const;

 private:
  struct close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, close> handle_;
};

// A prepared statement; bind in order of its question marks, then step through its rows.
class statement {
 public:
  statement(const connection& owner, sqlite3* database, const std::string& sql);

  statement& bind(std::int64_t value);
  statement& bind(double value);
  statement& bind(const std::string& text);
  statement& bind(std::nullptr_t);

  bool step();  // true: there is a row
  void run();   // to the end, then ready to be bound again

  std::int64_t whole(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  std::string text(int column) const;  // empty for NULL
  std::optional<double> number(int column) const;

 private:
  struct finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  void check(int code) const;

  const connection* owner_;
  std::unique_ptr<sqlite3_stmt, finalize> handle_;
  int bound_ = 0;
};

// All that is done while it exists, or nothing, when it goes without commit(). Begins as a writer, so that what it
// reads stays true until it writes.
class transaction {
 public:
  explicit transaction(connection& database) : database_(&database) { database_->execute("BEGIN IMMEDIATE"); }
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  ~transaction();

  void commit();

 private:
  connection* database_;
};

}  // namespace dvp::platform::sweep
