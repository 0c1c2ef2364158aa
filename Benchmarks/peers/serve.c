// What a server over a GeoPackage costs when nothing stands between libmicrohttpd and SQLite: the limit
// that `compare serve` measures against. It answers for the layers of the standard data, at the
// addresses of OGC API Features and Tiles, and checks little of what it is asked.
//
//   serve FILE PORT
//
// Two threads take all connections, each with its own connection to the file and its own statements.
// Changes are made through one further connection, and are on the disk before they are answered. An
// event is the body of a POST to /fixes, and goes to all who read /events.
//
// Build: cc -O2 serve.c -lmicrohttpd -lsqlite3 -lm -o serve
#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>
#include <unistd.h>

#include "serve_tiles.h"
#include "serve_events.h"

static const char *path;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static sqlite3 *writer;

struct layer {
  const char *name;
  struct column columns[16];
  int count;
  char select[512];
};
static struct layer layers[] = {{.name = "points"}, {.name = "polys"}};

static void fail(sqlite3 *database, const char *what) {
  fprintf(stderr, "serve: %s: %s\n", what, database ? sqlite3_errmsg(database) : "");
  exit(1);
}

static sqlite3 *open_file(int flags) {
  sqlite3 *database;
  if (sqlite3_open_v2(path, &database, flags | SQLITE_OPEN_NOMUTEX, 0)) fail(0, path);
  sqlite3_exec(database, "PRAGMA mmap_size=1099511627776", 0, 0, 0);
  sqlite3_busy_timeout(database, 5000);
  return database;
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, 0)) fail(database, sql);
  return statement;
}

static void describe(sqlite3 *database, struct layer *layer) {
  char sql[256];
  int length = snprintf(layer->select, sizeof layer->select, "SELECT fid, geom");
  snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", layer->name);
  sqlite3_stmt *row = prepare(database, sql);
  for (int i = 2; i < sqlite3_column_count(row) && layer->count < 16; i++) {
    struct column *column = &layer->columns[layer->count++];
    const char *type = sqlite3_column_decltype(row, i), *name = sqlite3_column_name(row, i);
    snprintf(column->name, sizeof column->name, ",\"%s\":", name);
    column->is_flag = type && !strcmp(type, "BOOLEAN");
    length += snprintf(
        layer->select + length, sizeof layer->select - length, ", \"%s\"", name);
  }
  snprintf(
      layer->select + length, sizeof layer->select - length, " FROM \"%s\" WHERE fid", layer->name);
  sqlite3_finalize(row);
}

// MARK: Reading

// What one thread reads with.
struct reader {
  sqlite3 *database;
  sqlite3_stmt *ids[2], *row[2];
  int64_t *found;
  size_t room;
};
static __thread struct reader reader;

static void open_reader(void) {
  char sql[1024];
  if (reader.database) return;
  reader.database = open_file(SQLITE_OPEN_READONLY);
  for (int i = 0; i < 2; i++) {
    snprintf(
        sql, sizeof sql,
        "SELECT id FROM \"rtree_%s_geom\" WHERE minx <= ? AND maxx >= ? AND miny <= ? AND maxy >= ?",
        layers[i].name);
    reader.ids[i] = prepare(reader.database, sql);
    snprintf(sql, sizeof sql, "%s = ?", layers[i].select);
    reader.row[i] = prepare(reader.database, sql);
  }
}

static int compare_ids(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// The ids of a box, in order.
static size_t ids_in(int layer, const double *box) {
  sqlite3_stmt *ids = reader.ids[layer];
  size_t count = 0;
  sqlite3_bind_double(ids, 1, box[2]), sqlite3_bind_double(ids, 2, box[0]);
  sqlite3_bind_double(ids, 3, box[3]), sqlite3_bind_double(ids, 4, box[1]);
  while (sqlite3_step(ids) == SQLITE_ROW) {
    if (count == reader.room) {
      reader.room = reader.room ? 2 * reader.room : 1024;
      reader.found = realloc(reader.found, reader.room * sizeof *reader.found);
      if (!reader.found) abort();
    }
    reader.found[count++] = sqlite3_column_int64(ids, 0);
  }
  sqlite3_reset(ids);
  qsort(reader.found, count, sizeof *reader.found, compare_ids);
  return count;
}

// The row of an id, which ends with `sqlite3_reset`; 0 where there is none.
static sqlite3_stmt *row_of(int layer, int64_t id) {
  sqlite3_stmt *row = reader.row[layer];
  sqlite3_bind_int64(row, 1, id);
  if (sqlite3_step(row) == SQLITE_ROW) return row;
  sqlite3_reset(row);
  return 0;
}

static struct bytes box_page(int layer, const double *box, long limit) {
  struct bytes page = {0};
  sqlite3_exec(reader.database, "BEGIN", 0, 0, 0);
  size_t count = ids_in(layer, box);
  long written = 0;
  put_text(&page, "{\"type\":\"FeatureCollection\",\"features\":[");
  for (size_t i = 0; i < count && written < limit; i++) {
    sqlite3_stmt *row = row_of(layer, reader.found[i]);
    if (!row) continue;
    const unsigned char *wkb = well_known(sqlite3_column_blob(row, 1));
    double x = double_at(wkb + 5), y = double_at(wkb + 13);
    // The tree's numbers are rounded.
    if (word_at(wkb + 1) != 1 || (x >= box[0] && x <= box[2] && y >= box[1] && y <= box[3])) {
      put_text(&page, written++ ? ",\n" : "\n");
      put_feature(&page, row, layers[layer].columns, layers[layer].count);
    }
    sqlite3_reset(row);
  }
  sqlite3_exec(reader.database, "COMMIT", 0, 0, 0);
  put_text(&page, "\n],\"numberReturned\":");
  put_integer(&page, written);
  put_text(&page, "}\n");
  return page;
}

static struct bytes vector_tile(int layer, int zoom, long column, long row) {
  double scale = (double)EXTENT * (1 << zoom), edge = BUFFER + 1;
  struct tile tile = {.scale = scale, .left = (double)column * EXTENT, .top = (double)row * EXTENT};
  double x[] = {(tile.left - edge) / scale, (tile.left + EXTENT + edge) / scale};
  double y[] = {(tile.top + EXTENT + edge) / scale, (tile.top - edge) / scale};
  double box[] = {
      x[0] * 360 - 180, atan(sinh(M_PI * (1 - 2 * y[0]))) * 180 / M_PI, x[1] * 360 - 180,
      atan(sinh(M_PI * (1 - 2 * y[1]))) * 180 / M_PI};
  sqlite3_exec(reader.database, "BEGIN", 0, 0, 0);
  size_t count = ids_in(layer, box);
  for (size_t i = 0; i < count; i++) {
    sqlite3_stmt *found = row_of(layer, reader.found[i]);
    if (!found) continue;
    put_tile_feature(&tile, found, layers[layer].columns, layers[layer].count);
    sqlite3_reset(found);
  }
  sqlite3_exec(reader.database, "COMMIT", 0, 0, 0);
  return finish_tile(&tile, layers[layer].name, layers[layer].columns, layers[layer].count);
}

// MARK: Long pages

// A page that is written while the client takes it.
struct stream {
  sqlite3_stmt *rows;
  int layer, is_ended;
  long written, limit;
  struct bytes text;
  size_t taken;
};

static ssize_t read_stream(void *context, uint64_t position, char *to, size_t room) {
  struct stream *stream = context;
  (void)position;
  if (stream->taken == stream->text.count) {
    if (stream->is_ended) return MHD_CONTENT_READER_END_OF_STREAM;
    stream->text.count = stream->taken = 0;
    while (stream->text.count < room && !stream->is_ended) {
      if (stream->written < stream->limit && sqlite3_step(stream->rows) == SQLITE_ROW) {
        put_text(&stream->text, stream->written++ ? ",\n" : "\n");
        const struct layer *layer = &layers[stream->layer];
        put_feature(&stream->text, stream->rows, layer->columns, layer->count);
      } else {
        put_text(&stream->text, "\n]}\n");
        stream->is_ended = 1;
      }
    }
  }
  size_t count = stream->text.count - stream->taken;
  if (count > room) count = room;
  memcpy(to, stream->text.data + stream->taken, count);
  stream->taken += count;
  return count;
}

static void free_stream(void *context) {
  struct stream *stream = context;
  sqlite3_finalize(stream->rows);
  free(stream->text.data);
  free(stream);
}

static struct MHD_Response *long_page(int layer, int64_t after, long limit) {
  char sql[1024];
  struct stream *stream = calloc(1, sizeof *stream);
  if (!stream) abort();
  snprintf(sql, sizeof sql, "%s > ? ORDER BY fid", layers[layer].select);
  stream->rows = prepare(reader.database, sql);
  sqlite3_bind_int64(stream->rows, 1, after);
  stream->layer = layer, stream->limit = limit;
  put_text(&stream->text, "{\"type\":\"FeatureCollection\",\"features\":[");
  return MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, 64 << 10, read_stream, stream, free_stream);
}

// MARK: Writing

static const char *number_behind(const char *text, const char *name) {
  const char *found = text ? strstr(text, name) : 0;
  return found ? found + strlen(name) : 0;
}

static void execute(const char *sql) {
  if (sqlite3_exec(writer, sql, 0, 0, 0)) fail(writer, sql);
}

static void change(int64_t id, const char *body) {
  static sqlite3_stmt *update;
  const char *number = number_behind(body, "\"num\":");
  if (!update) update = prepare(writer, "UPDATE points SET num = ? WHERE fid = ?");
  sqlite3_bind_int64(update, 1, number ? atoll(number) : 0);
  sqlite3_bind_int64(update, 2, id);
  if (sqlite3_step(update) != SQLITE_DONE) fail(writer, "update");
  sqlite3_reset(update);
}

// The points of a body, each with its number.
static void add(const char *body) {
  static sqlite3_stmt *insert;
  if (!insert) insert = prepare(writer, "INSERT INTO points (geom, num, name) VALUES (?, ?, 'new')");
  const char *at = body;
  while ((at = number_behind(at, "\"coordinates\":["))) {
    unsigned char blob[29] = {'G', 'P', 0, 1, 0xE6, 0x10, 0, 0, 1, 1};
    char *end;
    double x = strtod(at, &end), y = strtod(end + 1, 0);
    const char *number = number_behind(at, "\"num\":");
    memcpy(blob + 13, &x, 8), memcpy(blob + 21, &y, 8);
    sqlite3_bind_blob(insert, 1, blob, sizeof blob, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 2, number ? atoll(number) : 0);
    if (sqlite3_step(insert) != SQLITE_DONE) fail(writer, "insert");
    sqlite3_reset(insert);
  }
}

static void open_writer(void) {
  static const char *const names[] = {"ST_MinX", "ST_MaxX", "ST_MinY", "ST_MaxY"};
  writer = open_file(SQLITE_OPEN_READWRITE);
  for (int i = 0; i < 4; i++)
    sqlite3_create_function(
        writer, names[i], 1, SQLITE_UTF8, (void *)(intptr_t)(i < 2 ? 0 : 8), ordinate, 0, 0);
  sqlite3_create_function(writer, "ST_IsEmpty", 1, SQLITE_UTF8, 0, is_empty, 0, 0);
  execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
}

// MARK: Requests

static enum MHD_Result answer(
    struct MHD_Connection *connection, int status, struct MHD_Response *response, const char *type) {
  MHD_add_response_header(response, "Content-Type", type);
  enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

static struct MHD_Response *whole(struct bytes bytes) {
  return MHD_create_response_from_buffer(bytes.count, bytes.data, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result items(struct MHD_Connection *connection, int layer) {
  const char *box = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "bbox");
  const char *limit = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "limit");
  const char *after = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "after");
  long most = limit ? atol(limit) : 100;
  double sides[4];
  if (box && sscanf(box, "%lf,%lf,%lf,%lf", sides, sides + 1, sides + 2, sides + 3) == 4)
    return answer(connection, 200, whole(box_page(layer, sides, most)), "application/geo+json");
  return answer(
      connection, 200, long_page(layer, after ? atoll(after) : 0, most), "application/geo+json");
}

static enum MHD_Result item(struct MHD_Connection *connection, int layer, int64_t id) {
  struct bytes text = {0};
  sqlite3_stmt *row = row_of(layer, id);
  if (!row) return answer(connection, 404, whole(text), "text/plain");
  put_feature(&text, row, layers[layer].columns, layers[layer].count);
  sqlite3_reset(row);
  return answer(connection, 200, whole(text), "application/geo+json");
}

static enum MHD_Result get(struct MHD_Connection *connection, const char *url) {
  static const char document[3000] =
      "{\"title\":\"a document that is kept\",\"description\":\"as long as a landing page\"}";
  char name[16], rest[64] = "";
  int zoom;
  long row, column;
  if (!strcmp(url, "/"))
    return answer(
        connection, 200,
        MHD_create_response_from_buffer(sizeof document, (void *)document, MHD_RESPMEM_PERSISTENT),
        "application/json");
  if (!strcmp(url, "/events")) return answer(connection, 200, events(connection), "text/event-stream");
  open_reader();
  if (sscanf(url, "/collections/%15[a-z]/%63s", name, rest) == 2) {
    int layer = !strcmp(name, "polys");
    if (!strcmp(rest, "items")) return items(connection, layer);
    if (!strncmp(rest, "items/", 6)) return item(connection, layer, atoll(rest + 6));
    if (sscanf(rest, "tiles/WebMercatorQuad/%d/%ld/%ld", &zoom, &row, &column) == 3)
      return answer(
          connection, 200, whole(vector_tile(layer, zoom, column, row)),
          "application/vnd.mapbox-vector-tile");
  }
  return answer(connection, 404, whole((struct bytes){0}), "text/plain");
}

static enum MHD_Result handle(
    void *context, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *data, size_t *size, void **kept) {
  (void)context, (void)version;
  if (!*kept) {
    *kept = calloc(1, sizeof(struct bytes));
    return *kept ? MHD_YES : MHD_NO;
  }
  struct bytes *body = *kept;
  if (*size) {
    put(body, data, *size);
    *size = 0;
    return MHD_YES;
  }
  if (!strcmp(method, "GET")) return get(connection, url);
  put(body, "", 1);
  if (!strcmp(url, "/fixes")) {
    publish(body->data);
  } else {
    pthread_mutex_lock(&writing);
    execute("BEGIN IMMEDIATE");
    if (!strcmp(method, "POST"))
      add(body->data);
    else
      change(atoll(strrchr(url, '/') + 1), body->data);
    execute("COMMIT");
    pthread_mutex_unlock(&writing);
  }
  return answer(connection, 204, whole((struct bytes){0}), "text/plain");
}

static void completed(
    void *context, struct MHD_Connection *connection, void **kept,
    enum MHD_RequestTerminationCode code) {
  (void)context, (void)connection, (void)code;
  struct bytes *body = *kept;
  if (body) free(body->data), free(body);
}

int main(int count, char **arguments) {
  if (count < 3) fail(0, "usage: serve FILE PORT");
  path = arguments[1];
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  open_writer();
  for (int i = 0; i < 2; i++) describe(writer, &layers[i]);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[2]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, 0, 0, handle, 0,
      MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_THREAD_POOL_SIZE, 2,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16 << 10, MHD_OPTION_CONNECTION_LIMIT, 10000,
      MHD_OPTION_NOTIFY_COMPLETED, completed, (void *)0, MHD_OPTION_END);
  if (!daemon) fail(0, "cannot listen");
  printf("listening\n");
  fflush(stdout);
  for (;;) pause();
}
