// What the C server writes: growing bytes, numbers with fixed decimals, features as GeoJSON.
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
  char *data;
  size_t count, room;
};

static inline char *reserve(struct bytes *bytes, size_t more) {
  if (bytes->count + more > bytes->room) {
    bytes->room = 2 * bytes->room + more + 1024;
    bytes->data = realloc(bytes->data, bytes->room);
    if (!bytes->data) abort();
  }
  return bytes->data + bytes->count;
}

static inline void put(struct bytes *bytes, const void *from, size_t count) {
  memcpy(reserve(bytes, count), from, count);
  bytes->count += count;
}

static inline void put_text(struct bytes *bytes, const char *text) {
  put(bytes, text, strlen(text));
}

static inline void put_integer(struct bytes *bytes, int64_t value) {
  char digits[24], *end = digits + sizeof digits, *to = end;
  uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
  do *--to = '0' + rest % 10;
  while (rest /= 10);
  if (value < 0) *--to = '-';
  put(bytes, to, end - to);
}

// Decimals are rounded, and zeros at the end left out.
static inline void put_fixed(struct bytes *bytes, double value, int decimals, double factor) {
  if (!(fabs(value) < 9e9)) {
    bytes->count += snprintf(reserve(bytes, 32), 32, "%.17g", value);
    return;
  }
  uint64_t number = (uint64_t)(fabs(value) * factor + 0.5);
  char digits[24], *end = digits + sizeof digits, *to = end;
  int left = decimals;
  while (left && number % 10 == 0) number /= 10, left--;
  if (left) {
    while (left--) *--to = '0' + number % 10, number /= 10;
    *--to = '.';
  }
  do *--to = '0' + number % 10;
  while (number /= 10);
  if (value < 0) *--to = '-';
  put(bytes, to, end - to);
}

static inline void put_string(struct bytes *bytes, const unsigned char *text, int count) {
  char *to = reserve(bytes, 6 * (size_t)count + 2), *start = to;
  *to++ = '"';
  for (int i = 0; i < count; i++) {
    if (text[i] == '"' || text[i] == '\\')
      *to++ = '\\', *to++ = text[i];
    else if (text[i] < 0x20)
      to += snprintf(to, 7, "\\u%04x", text[i]);
    else
      *to++ = text[i];
  }
  *to++ = '"';
  bytes->count += to - start;
}

// Little-endian WKB behind the header of a GeoPackage's blob; only what the standard data holds.
static inline const unsigned char *well_known(const unsigned char *blob) {
  static const int envelope[] = {0, 32, 48, 48, 64, 0, 0, 0};
  return blob + 8 + envelope[blob[3] >> 1 & 7];
}

static inline uint32_t word_at(const unsigned char *at) {
  uint32_t word;
  memcpy(&word, at, 4);
  return word;
}

static inline double double_at(const unsigned char *at) {
  double value;
  memcpy(&value, at, 8);
  return value;
}

static inline void put_position(struct bytes *bytes, const unsigned char *at) {
  put(bytes, "[", 1);
  put_fixed(bytes, double_at(at), 8, 1e8);
  put(bytes, ",", 1);
  put_fixed(bytes, double_at(at + 8), 8, 1e8);
  put(bytes, "]", 1);
}

static inline void put_geometry(struct bytes *bytes, const unsigned char *wkb) {
  if (word_at(wkb + 1) == 1) {
    put_text(bytes, "{\"type\":\"Point\",\"coordinates\":");
    put_position(bytes, wkb + 5);
  } else {
    put_text(bytes, "{\"type\":\"Polygon\",\"coordinates\":[");
    uint32_t rings = word_at(wkb + 5);
    const unsigned char *at = wkb + 9;
    for (uint32_t ring = 0; ring < rings; ring++) {
      uint32_t count = word_at(at);
      put_text(bytes, ring ? ",[" : "[");
      at += 4;
      for (uint32_t i = 0; i < count; i++, at += 16) {
        if (i) put(bytes, ",", 1);
        put_position(bytes, at);
      }
      put(bytes, "]", 1);
    }
    put(bytes, "]", 1);
  }
  put(bytes, "}", 1);
}

struct column {
  char name[64];  // as `,"name":`
  int is_flag;
};

// The statement's columns are the id, the geometry and the attributes.
static inline void put_feature(
    struct bytes *bytes, sqlite3_stmt *row, const struct column *columns, int count) {
  put_text(bytes, "{\"type\":\"Feature\",\"id\":");
  put_integer(bytes, sqlite3_column_int64(row, 0));
  put_text(bytes, ",\"geometry\":");
  const unsigned char *blob = sqlite3_column_blob(row, 1);
  if (blob)
    put_geometry(bytes, well_known(blob));
  else
    put_text(bytes, "null");
  put_text(bytes, ",\"properties\":{");
  for (int i = 0; i < count; i++) {
    put_text(bytes, columns[i].name + (i == 0));
    switch (sqlite3_column_type(row, i + 2)) {
      case SQLITE_INTEGER: {
        int64_t value = sqlite3_column_int64(row, i + 2);
        if (columns[i].is_flag)
          put_text(bytes, value ? "true" : "false");
        else
          put_integer(bytes, value);
        break;
      }
      case SQLITE_FLOAT: put_fixed(bytes, sqlite3_column_double(row, i + 2), 9, 1e9); break;
      case SQLITE_TEXT: {
        const unsigned char *text = sqlite3_column_text(row, i + 2);
        put_string(bytes, text, sqlite3_column_bytes(row, i + 2));
        break;
      }
      default: put_text(bytes, "null");
    }
  }
  put_text(bytes, "}}");
}

// The functions that the triggers of the R-tree call, for points.
static inline void ordinate(sqlite3_context *context, int count, sqlite3_value **values) {
  const unsigned char *blob = sqlite3_value_blob(values[0]);
  (void)count;
  if (!blob) return sqlite3_result_null(context);
  int offset = 5 + (int)(intptr_t)sqlite3_user_data(context);
  sqlite3_result_double(context, double_at(well_known(blob) + offset));
}

static inline void is_empty(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count, (void)values;
  sqlite3_result_int(context, 0);
}
