#pragma once
#include <stddef.h>
#include <stdint.h>

/// What was done to a file or to a folder; the numbers stand in the record.
enum fieldpack_record_kind {
  FIELDPACK_RECORD_CREATE = 1,
  FIELDPACK_RECORD_WRITE = 2,
  FIELDPACK_RECORD_CUT = 3,
  FIELDPACK_RECORD_SYNC = 4,
  FIELDPACK_RECORD_RENAME = 5,
  FIELDPACK_RECORD_LINK = 6,
  FIELDPACK_RECORD_REMOVE = 7,
  FIELDPACK_RECORD_SYNC_FOLDER = 8,
  FIELDPACK_RECORD_APPEND = 9,
};

/// Begins a record at `path` and makes SQLite's default VFS one that writes to it all that SQLite does
/// to databases, journals and logs. Returns 0, or another number where that fails.
int fieldpack_record_begin(const char *path);

/// Adds one action: kind (1 byte), number (8), lengths of path and bytes (4 each), path, bytes. All
/// numbers are little-endian. Any thread may call it.
void fieldpack_record_add(
    int kind, const char *path, int64_t number, const void *bytes, size_t count);

/// Lists at `path` each statement that SQLite runs from here on, those of opening included: a line of
/// the database's path, a tab and the SQL. Returns 0, or another number where that fails.
int fieldpack_statements_begin(const char *path);
