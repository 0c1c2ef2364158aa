#pragma once
#include <sqlite3.h>

// Variadic C functions and function-like macros are not imported by Swift.

static inline int fieldpack_sqlite_config_flag(sqlite3 *db, int option, int value) {
  int result = 0;
  return sqlite3_db_config(db, option, value, &result);
}

static inline int fieldpack_sqlite_skip_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static inline sqlite3_destructor_type fieldpack_sqlite_transient(void) {
  return SQLITE_TRANSIENT;
}

// Reads the start of the database file through the handle SQLite itself holds. A descriptor of
// our own would drop every POSIX lock of this process on the file when closed.
static inline int fieldpack_sqlite_read_header(sqlite3 *db, unsigned char *bytes, int count) {
  sqlite3_file *file = 0;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK) return code;
  if (file == 0 || file->pMethods == 0) return SQLITE_MISUSE;
  return file->pMethods->xRead(file, bytes, count, 0);
}

static inline int fieldpack_sqlite_make_direct_only(sqlite3 *db) {
  return sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
}

// What SQLite hands back to a virtual table begins with its own fields.
typedef struct fieldpack_vtab {
  sqlite3_vtab base;
  void *table;
} fieldpack_vtab;

typedef struct fieldpack_vtab_cursor {
  sqlite3_vtab_cursor base;
  void *cursor;
  int has_row;
} fieldpack_vtab_cursor;

// What SQLite keeps of an open file begins with its own fields.
typedef struct fieldpack_file {
  sqlite3_file base;
  void *writes;
} fieldpack_file;

#ifdef __linux__
#include <sys/types.h>
// The C library declares this for programs in GNU's C alone.
int sync_file_range(int file, __off64_t start, __off64_t count, unsigned int flags);

// Has the system begin to write what a file has in memory to the disk, and does not wait.
static inline void fieldpack_start_sync(int file) {
  const unsigned int write = 2; // SYNC_FILE_RANGE_WRITE
  (void)sync_file_range(file, 0, 0, write);
}
#else
static inline void fieldpack_start_sync(int file) { (void)file; }
#endif
