#include "FieldpackTestVFS.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static FILE *record;

/// The bodies of triggers come with "--" in front, and are no statements of their own.
static int run(unsigned event, void *context, void *statement, void *text) {
  const char *sql = text;
  if (strncmp(sql, "--", 2) == 0) return 0;
  const char *file = sqlite3_db_filename(sqlite3_db_handle(statement), "main");
  flockfile(record);
  fprintf(record, "%s\t", file == NULL ? "" : file);
  for (; *sql != 0; sql++) fputc(*sql == '\n' ? ' ' : *sql, record);
  fputc('\n', record);
  fflush(record);
  funlockfile(record);
  return 0;
}

static int opened(sqlite3 *database, char **message, const void *functions) {
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, run, NULL);
}

int fieldpack_statements_begin(const char *path) {
  record = fopen(path, "w");
  return record == NULL || sqlite3_auto_extension((void (*)(void))opened) != SQLITE_OK;
}
