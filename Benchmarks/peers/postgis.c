// What libpq gives when nothing stands between: boxes asked of PostGIS with binary results.
//
//   postgis boxes CONNECTION TABLE BOXES   one prepared query a box, every column of its rows read
//
// Build: cc -O2 postgis.c -I$(pg_config --includedir) -lpq -o postgis
#include <arpa/inet.h>
#include <endian.h>
#include <libpq-fe.h>
#include <stdint.h>
#include <string.h>

#include "timing.h"

static PGconn *connection;

static void fail(const char *what) {
  fprintf(stderr, "postgis: %s: %s\n", what, connection ? PQerrorMessage(connection) : "");
  exit(1);
}

static uint64_t number(const char *bytes, int length) {
  uint64_t value = 0;
  for (int i = 0; i < length; i++) value = value << 8 | (unsigned char)bytes[i];
  return value;
}

// Whether a point in EWKB is in the box; the index keeps boxes in 32 bits and gives a few rows more.
static int is_inside(const char *point, const double *box) {
  double place[2];
  memcpy(place, point + 9, sizeof place);
  return place[0] >= box[0] && place[0] <= box[2] && place[1] >= box[1] && place[1] <= box[3];
}

int main(int count, char **arguments) {
  if (count != 5 || strcmp(arguments[1], "boxes")) fail("usage");
  connection = PQconnectdb(arguments[2]);
  if (PQstatus(connection) != CONNECTION_OK) fail("connect");
  char sql[1024];
  snprintf(
      sql, sizeof sql,
      "SELECT * FROM \"%s\" WHERE geom && ST_MakeEnvelope($1, $2, $3, $4, 4326)", arguments[3]);
  PGresult *prepared = PQprepare(connection, "box", sql, 0, 0);
  if (PQresultStatus(prepared) != PGRES_COMMAND_OK) fail("prepare");
  FILE *file = fopen(arguments[4], "r");
  if (!file) fail(arguments[4]);
  double box[4];
  uint64_t parameters[4];
  const char *values[4];
  int lengths[4] = {8, 8, 8, 8}, formats[4] = {1, 1, 1, 1};
  long rows = 0;
  long long ids = 0, touched = 0;
  struct latencies latencies = {0};
  double start = now();
  while (fscanf(file, "%lf %lf %lf %lf", box, box + 1, box + 2, box + 3) == 4) {
    double begin = now();
    for (int i = 0; i < 4; i++) {
      uint64_t bits;
      memcpy(&bits, box + i, 8);
      parameters[i] = htobe64(bits);
      values[i] = (const char *)&parameters[i];
    }
    PGresult *result = PQexecPrepared(connection, "box", 4, values, lengths, formats, 1);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) fail("query");
    int columns = PQnfields(result), geometry = PQfnumber(result, "geom");
    for (int row = 0; row < PQntuples(result); row++) {
      if (!is_inside(PQgetvalue(result, row, geometry), box)) continue;
      rows++;
      ids += number(PQgetvalue(result, row, 0), PQgetlength(result, row, 0));
      for (int column = 1; column < columns; column++)
        if (!PQgetisnull(result, row, column)) {
          int length = PQgetlength(result, row, column);
          touched += length == 8 ? number(PQgetvalue(result, row, column), 8) : length;
        }
    }
    PQclear(result);
    add_latency(&latencies, now() - begin);
  }
  // Keeps the compiler from leaving the reading out.
  if (touched == 42) puts("");
  print_latencies(now() - start, rows, ids, &latencies);
  PQfinish(connection);
  return 0;
}
