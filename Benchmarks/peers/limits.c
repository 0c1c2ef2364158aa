// What the machine and the libraries give when nothing stands between: SQLite, SpatiaLite and PROJ
// called from C. Connections are opened as Fieldpack opens them for the same work: no mutex, and a
// mapped file for boxes and ids only.
//
//   limits scan FILE LAYER              steps through all rows and reads every column
//   limits boxes|ids FILE LAYER BOXES   a prepared join with the R-tree; the file is opened before
//   limits where FILE LAYER CONDITION   a plain SELECT, every column of the matches read
//   limits relation FILE LAYER WKT      SpatiaLite's ST_Intersects behind a join with the R-tree
//   limits insert FILE COUNT            point rows with five attributes, one transaction, no sync
//   limits copy OUT LAYER FILE COMMITS   inserts the rows of a layer of points, and its R-tree
//   limits edits FILE LAYER COUNT       changes the number of so many features, 1,000 a transaction
//   limits pending FILE LAYER ROUNDS    the first 1,000 edits that are not sent, each column read
//   limits rtree FILE LAYER             builds an R-tree by INSERT ... SELECT in a copy of the file
//   limits memcpy MIB                   copies of one block
//   limits project SRS COUNT            proj_trans_generic over arrays
//   limits empty                        does nothing; linked to the libraries of the tool
//
// Build: cc -O2 limits.c -lsqlite3 -lspatialite -lproj -lgeos_c -lxml2 -o limits
#include <proj.h>
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>
// Behind sqlite3.h, whose types it needs.
#include <spatialite.h>

#include "timing.h"

static sqlite3 *database;

static void fail(const char *what) {
  fprintf(stderr, "limits: %s: %s\n", what, database ? sqlite3_errmsg(database) : "");
  exit(1);
}

static void run(const char *sql) {
  if (sqlite3_exec(database, sql, 0, 0, 0)) fail(sql);
}

static void open_file(const char *path, int flags) {
  if (sqlite3_open_v2(path, &database, flags | SQLITE_OPEN_NOMUTEX, 0)) fail(path);
  run("PRAGMA mmap_size=0");
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, 0)) fail(sql);
  return statement;
}

// A static buffer is enough: one statement is built at a time.
static const char *text(const char *format, const char *a, const char *b, const char *c) {
  static char buffer[1 << 16];
  snprintf(buffer, sizeof buffer, format, a, b, c);
  return buffer;
}

struct totals {
  long count;
  long long ids, geometry, touched;
};

// The second column is the geometry, and bytes behind its header count.
static void touch(sqlite3_stmt *row, struct totals *totals) {
  static const int envelope[] = {0, 32, 48, 48, 64, 0, 0, 0};
  int columns = sqlite3_column_count(row);
  totals->count++;
  totals->ids += sqlite3_column_int64(row, 0);
  for (int i = 1; i < columns; i++) {
    switch (sqlite3_column_type(row, i)) {
      case SQLITE_INTEGER: totals->touched += sqlite3_column_int64(row, i); break;
      case SQLITE_FLOAT: totals->touched += sqlite3_column_double(row, i); break;
      case SQLITE_TEXT: totals->touched += sqlite3_column_text(row, i)[0]; break;
      case SQLITE_BLOB: {
        const unsigned char *blob = sqlite3_column_blob(row, i);
        int size = sqlite3_column_bytes(row, i);
        if (i == 1 && size > 8) totals->geometry += size - 8 - envelope[blob[3] >> 1 & 7];
        break;
      }
    }
  }
}

static void read_rows(sqlite3_stmt *rows, struct totals *totals) {
  int code;
  while ((code = sqlite3_step(rows)) == SQLITE_ROW) touch(rows, totals);
  if (code != SQLITE_DONE) fail("step");
  sqlite3_reset(rows);
}

static int boxes(const char *layer, const char *path, int ids_only) {
#define IN_BOX "r.maxx >= ? AND r.minx <= ? AND r.maxy >= ? AND r.miny <= ?"
  const char *ids = "SELECT r.id FROM \"rtree_%s_geom\" r WHERE " IN_BOX;
  const char *all =
      "SELECT m.* FROM \"rtree_%s_geom\" r JOIN \"%s\" m ON m.fid = r.id WHERE " IN_BOX;
  sqlite3_stmt *rows = prepare(text(ids_only ? ids : all, layer, layer, ""));
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  double box[4];
  struct totals totals = {0};
  struct latencies latencies = {0};
  double start = now();
  while (fscanf(file, "%lf %lf %lf %lf", box, box + 1, box + 2, box + 3) == 4) {
    double begin = now();
    sqlite3_bind_double(rows, 1, box[0]);
    sqlite3_bind_double(rows, 2, box[2]);
    sqlite3_bind_double(rows, 3, box[1]);
    sqlite3_bind_double(rows, 4, box[3]);
    read_rows(rows, &totals);
    add_latency(&latencies, now() - begin);
  }
  print_latencies(now() - start, totals.count, totals.ids, &latencies);
  return 0;
}

static int relation(const char *layer, const char *path) {
  static char geometry[1 << 20];
  FILE *file = fopen(path, "r");
  if (!file || !fread(geometry, 1, sizeof geometry - 1, file)) fail(path);
  void *cache = spatialite_alloc_connection();
  spatialite_init_ex(database, cache, 0);
  char sql[1 << 12];
  snprintf(
      sql, sizeof sql,
      "WITH q AS MATERIALIZED (SELECT GeomFromText(?1, 4326) AS g) SELECT m.* FROM q, "
      "\"rtree_%s_geom\" r JOIN \"%s\" m ON m.fid = r.id WHERE r.maxx >= MbrMinX(q.g) AND "
      "r.minx <= MbrMaxX(q.g) AND r.maxy >= MbrMinY(q.g) AND r.miny <= MbrMaxY(q.g) AND "
      "ST_Intersects(GeomFromGPB(m.geom), q.g) = 1",
      layer, layer);
  sqlite3_stmt *rows = prepare(sql);
  sqlite3_bind_text(rows, 1, geometry, -1, SQLITE_STATIC);
  struct totals totals = {0};
  read_rows(rows, &totals);
  sqlite3_finalize(rows);
  return printf("{\"count\":%ld,\"checksum\":[%lld]", totals.count, totals.geometry) < 0;
}

static int insert(const char *path, long count) {
  remove(path);
  open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  run("PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF; PRAGMA cache_size=-65536;"
      "CREATE TABLE t (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, geom BLOB, num INTEGER,"
      "val REAL, name TEXT, flag BOOLEAN, ts DATETIME); BEGIN");
  unsigned char blob[29] = {'G', 'P', 0, 1, 0xE6, 0x10, 0, 0, 1, 1};
  char name[40];
  sqlite3_stmt *row = prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)");
  double start = now();
  for (long i = 1; i <= count; i++) {
    double x = 5 + i * 7919 % 1000003 / 5e4, y = 45 + i * 104729 % 1000033 / 1e5;
    memcpy(blob + 13, &x, 8);
    memcpy(blob + 21, &y, 8);
    int length = snprintf(name, sizeof name, "maple juniper %ld", i);
    sqlite3_bind_int64(row, 1, i);
    sqlite3_bind_blob(row, 2, blob, 29, SQLITE_STATIC);
    sqlite3_bind_int64(row, 3, i * 7919 % 1000000);
    sqlite3_bind_double(row, 4, x * y);
    sqlite3_bind_text(row, 5, name, length, SQLITE_STATIC);
    sqlite3_bind_int64(row, 6, i & 1);
    sqlite3_bind_text(row, 7, "2024-04-18T05:22:33.000Z", 24, SQLITE_STATIC);
    if (sqlite3_step(row) != SQLITE_DONE) fail("insert");
    sqlite3_reset(row);
  }
  sqlite3_finalize(row);
  run("COMMIT");
  print_totals(now() - start, count, 0);
  return 0;
}

// Inserts the rows that a layer of points of another file has, and its R-tree, in as many transactions or more.
static int copy(const char *path, const char *layer, const char *source, long commits) {
  sqlite3 *from;
  sqlite3_stmt *rows, *found;
  if (sqlite3_open_v2(source, &from, SQLITE_OPEN_READONLY, 0)) fail(source);
  remove(path);
  open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  run("PRAGMA journal_mode=WAL; CREATE VIRTUAL TABLE r USING rtree(id, minx, maxx, miny, maxy)");
  char sql[1 << 10];
  snprintf(sql, sizeof sql, "SELECT sql, (SELECT count(*) FROM \"%s\") FROM sqlite_master "
           "WHERE type = 'table' AND name = '%s'", layer, layer);
  if (sqlite3_prepare_v2(from, sql, -1, &found, 0) || sqlite3_step(found) != SQLITE_ROW) fail(layer);
  run((const char *)sqlite3_column_text(found, 0));
  long total = sqlite3_column_int64(found, 1), share = total / commits + 1, count = 0;
  // As a run that is kept.
  if (share > 10000) share = 10000;
  sqlite3_finalize(found);
  if (sqlite3_prepare_v2(from, text("SELECT * FROM \"%s\"%s%s", layer, "", ""), -1, &rows, 0))
    fail(layer);
  int columns = sqlite3_column_count(rows);
  int length = snprintf(sql, sizeof sql, "INSERT INTO \"%s\" VALUES (?", layer);
  for (int i = 1; i < columns; i++) length += snprintf(sql + length, sizeof sql - length, ", ?");
  snprintf(sql + length, sizeof sql - length, ")");
  sqlite3_stmt *row = prepare(sql), *entry = prepare("INSERT INTO r VALUES (?, ?2, ?2, ?3, ?3)");
  double seconds = 0;
  while (sqlite3_step(rows) == SQLITE_ROW) {
    double place[2], start = now();
    if (count % share == 0) run(count ? "COMMIT; BEGIN" : "BEGIN");
    for (int i = 0; i < columns; i++) sqlite3_bind_value(row, i + 1, sqlite3_column_value(rows, i));
    if (sqlite3_step(row) != SQLITE_DONE) fail("insert");
    sqlite3_reset(row);
    const unsigned char *blob = sqlite3_column_blob(rows, 1);
    memcpy(place, blob + sqlite3_column_bytes(rows, 1) - 16, sizeof place);
    sqlite3_bind_int64(entry, 1, sqlite3_column_int64(rows, 0));
    sqlite3_bind_double(entry, 2, place[0]);
    sqlite3_bind_double(entry, 3, place[1]);
    if (sqlite3_step(entry) != SQLITE_DONE) fail("insert into the R-tree");
    sqlite3_reset(entry);
    seconds += now() - start;
    count++;
  }
  double start = now();
  sqlite3_finalize(row);
  sqlite3_finalize(entry);
  run("COMMIT");
  seconds += now() - start;
  sqlite3_close(database);
  print_totals(seconds, count, 0);
  return 0;
}

// The functions that GeoPackage's triggers and this build ask for, for points only.
static void ordinate(sqlite3_context *context, int count, sqlite3_value **values) {
  const unsigned char *blob = sqlite3_value_blob(values[0]);
  double value;
  (void)count;
  if (!blob || sqlite3_value_bytes(values[0]) < 29) return sqlite3_result_null(context);
  memcpy(&value, blob + (blob[3] & 0x0e ? 8 : 13) + (intptr_t)sqlite3_user_data(context), 8);
  sqlite3_result_double(context, value);
}

static void is_empty(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count, (void)values;
  sqlite3_result_int(context, 0);
}

// Changes the number of the features 1 to `count`, with all triggers of the file.
static int edits(const char *path, const char *layer, long count) {
  static const char *const names[] = {"ST_MinX", "ST_MaxX", "ST_MinY", "ST_MaxY"};
  open_file(path, SQLITE_OPEN_READWRITE);
  for (int i = 0; i < 4; i++)
    sqlite3_create_function(
        database, names[i], 1, SQLITE_UTF8, (void *)(intptr_t)(i < 2 ? 0 : 8), ordinate, 0, 0);
  sqlite3_create_function(database, "ST_IsEmpty", 1, SQLITE_UTF8, 0, is_empty, 0, 0);
  run("PRAGMA foreign_keys=ON; PRAGMA synchronous=EXTRA; PRAGMA journal_mode=WAL");
  sqlite3_stmt *row = prepare(text("UPDATE \"%s\" SET num = ?1 WHERE fid = ?1%s%s", layer, "", ""));
  double start = now();
  for (long i = 1; i <= count; i++) {
    if (i % 1000 == 1) run(i > 1 ? "COMMIT; BEGIN IMMEDIATE" : "BEGIN IMMEDIATE");
    sqlite3_bind_int64(row, 1, i);
    if (sqlite3_step(row) != SQLITE_DONE) fail("update");
    sqlite3_reset(row);
  }
  sqlite3_finalize(row);
  run("COMMIT");
  print_totals(now() - start, count, 0);
  return sqlite3_close(database);
}

// Reads the first edits that are pending again and again; each time prepares its statement.
static int pending(const char *path, const char *layer, long rounds) {
  struct totals totals = {0};
  open_file(path, SQLITE_OPEN_READONLY);
  double start = now();
  for (long i = 0; i < rounds; i++) {
    sqlite3_stmt *rows = prepare(text(
        "SELECT * FROM \"%s_audit\" WHERE sent IS NULL AND audit_id > 0%s%s ORDER BY audit_id "
        "LIMIT 1000", layer, "", ""));
    read_rows(rows, &totals);
    sqlite3_finalize(rows);
  }
  print_totals(now() - start, totals.count, totals.ids);
  return 0;
}

static int rtree(const char *path, const char *layer) {
  open_file(path, SQLITE_OPEN_READWRITE);
  sqlite3_create_function(database, "px", 1, SQLITE_UTF8, (void *)0, ordinate, 0, 0);
  sqlite3_create_function(database, "py", 1, SQLITE_UTF8, (void *)8, ordinate, 0, 0);
  run("PRAGMA synchronous=OFF; PRAGMA cache_size=-262144");
  double start = now();
  run("BEGIN; CREATE VIRTUAL TABLE limits_index USING rtree(id, minx, maxx, miny, maxy)");
  run(text("INSERT INTO limits_index SELECT fid, px(geom), px(geom), py(geom), py(geom) "
           "FROM \"%s\"%s%s", layer, "", ""));
  run("COMMIT");
  print_seconds(now() - start);
  return 0;
}

static int copy_memory(long mebibytes) {
  size_t size = (size_t)mebibytes << 20;
  char *from = malloc(size), *to = malloc(size);
  if (!from || !to) fail("memory");
  memset(from, 1, size);
  memset(to, 2, size);
  double start = now();
  for (int i = 0; i < 4; i++) {
    memcpy(to, from, size);
    from[i] = to[size - 1 - i];
  }
  print_totals(now() - start, 4 * mebibytes, from[0]);
  return 0;
}

static int project(const char *target, long count) {
  PJ *plain = proj_create_crs_to_crs(0, "EPSG:4326", target, 0);
  PJ *operation = plain ? proj_normalize_for_visualization(0, plain) : 0;
  double *x = malloc(count * sizeof *x), *y = malloc(count * sizeof *y);
  if (!operation || !x || !y) fail(target);
  for (long i = 0; i < count; i++) {
    x[i] = 5 + i * 7919 % 1000003 / 5e4;
    y[i] = 45 + i * 104729 % 1000033 / 1e5;
  }
  double start = now();
  size_t done = proj_trans_generic(
      operation, PJ_FWD, x, sizeof *x, count, y, sizeof *y, count, 0, 0, 0, 0, 0, 0);
  print_totals(now() - start, done, 0);
  return 0;
}

int main(int count, char **arguments) {
  if (count < 2 || !strcmp(arguments[1], "empty")) {
    // Never true; it keeps the linker from leaving the libraries out.
    if (count == 99) return sqlite3_libversion_number() + !spatialite_version() + !proj_info().major;
    return 0;
  }
  const char *work = arguments[1];
  if (count < 3) fail("usage: see the head of limits.c");
  if (!strcmp(work, "memcpy")) return copy_memory(atol(arguments[2]));
  if (count < 4) fail("usage: see the head of limits.c");
  if (!strcmp(work, "project")) return project(arguments[2], atol(arguments[3]));
  if (!strcmp(work, "insert")) return insert(arguments[2], atol(arguments[3]));
  if (!strcmp(work, "rtree")) return rtree(arguments[2], arguments[3]);
  if (!strcmp(work, "edits") && count > 4)
    return edits(arguments[2], arguments[3], atol(arguments[4]));
  if (!strcmp(work, "pending") && count > 4)
    return pending(arguments[2], arguments[3], atol(arguments[4]));
  if (!strcmp(work, "copy") && count > 5)
    return copy(arguments[2], arguments[3], arguments[4], atol(arguments[5]));

  const char *layer = arguments[3], *argument = count > 4 ? arguments[4] : "1";
  struct totals totals = {0};
  double start = now();
  open_file(arguments[2], SQLITE_OPEN_READONLY);
  if (!strcmp(work, "boxes") || !strcmp(work, "ids")) run("PRAGMA mmap_size=1099511627776");
  if (!strcmp(work, "boxes")) return boxes(layer, argument, 0);
  if (!strcmp(work, "ids")) return boxes(layer, argument, 1);
  if (!strcmp(work, "relation")) {
    relation(layer, argument);
    return printf(",\"seconds\":%.6f}\n", now() - start) < 0;
  }
  const char *where = strcmp(work, "where") ? "1" : argument;
  read_rows(prepare(text("SELECT * FROM \"%s\" WHERE %s%s", layer, where, "")), &totals);
  print_totals(now() - start, totals.count, totals.geometry);
  return 0;
}
