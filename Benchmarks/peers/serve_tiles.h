// Vector tiles of the C server: features cut to the tile, simplified to its grid, with all attributes.
#include "serve_text.h"

enum { EXTENT = 4096, BUFFER = 64 };

static inline void put_varint(struct bytes *bytes, uint64_t value) {
  unsigned char *to = (unsigned char *)reserve(bytes, 10), *start = to;
  while (value >= 0x80) *to++ = value | 0x80, value >>= 7;
  *to++ = value;
  bytes->count += to - start;
}

static inline void put_field(struct bytes *bytes, int tag, const void *from, size_t count) {
  put_varint(bytes, tag);
  put_varint(bytes, count);
  put(bytes, from, count);
}

static inline uint64_t zigzag(int64_t value) { return (uint64_t)value << 1 ^ value >> 63; }

struct place {
  double x, y;
};

struct grid_place {
  int32_t x, y;
};

struct tile {
  double scale, left, top;
  struct bytes features, values, tags, geometry;
  // The values by their hashes: offsets into `values` plus 1, and their numbers.
  uint32_t *offsets, *numbers, slots, value_count;
  uint32_t *hashes, feature_count;
  struct place *places, *cut;
  struct grid_place *ring;
  size_t room;
};

static inline struct place on_grid(const struct tile *tile, const unsigned char *at) {
  double sine = sin(double_at(at + 8) * (M_PI / 180));
  double y = 0.5 - log((1 + sine) / (1 - sine)) / (4 * M_PI);
  return (struct place){
      (double_at(at) / 360 + 0.5) * tile->scale - tile->left, y * tile->scale - tile->top};
}

static inline void grow_values(struct tile *tile) {
  uint32_t slots = tile->slots ? 2 * tile->slots : 1024;
  uint32_t *offsets = calloc(slots, 4), *numbers = calloc(slots, 4);
  if (!offsets || !numbers) abort();
  for (uint32_t i = 0; i < tile->slots; i++) {
    if (!tile->offsets[i]) continue;
    uint32_t slot = tile->hashes[tile->numbers[i]] & (slots - 1);
    while (offsets[slot]) slot = (slot + 1) & (slots - 1);
    offsets[slot] = tile->offsets[i], numbers[slot] = tile->numbers[i];
  }
  free(tile->offsets), free(tile->numbers);
  tile->offsets = offsets, tile->numbers = numbers, tile->slots = slots;
  // The hash of each value, by its number.
  tile->hashes = realloc(tile->hashes, slots * sizeof *tile->hashes);
}

// The number of the value that begins at `start`, which goes again where it is there already.
static inline uint32_t value_number(struct tile *tile, size_t start) {
  size_t count = tile->values.count - start;
  const unsigned char *bytes = (unsigned char *)tile->values.data + start;
  uint64_t hash = count;
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  for (; i < count; i++) hash = (hash ^ bytes[i]) * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 32;
  if (2 * tile->value_count >= tile->slots) grow_values(tile);
  uint32_t slot = hash & (tile->slots - 1);
  while (tile->offsets[slot]) {
    uint32_t number = tile->numbers[slot];
    size_t other = tile->offsets[slot] - 1;
    if (tile->hashes[number] == (uint32_t)hash && other + count <= start &&
        !memcmp(tile->values.data + other, bytes, count)) {
      tile->values.count = start;
      return number;
    }
    slot = (slot + 1) & (tile->slots - 1);
  }
  tile->offsets[slot] = start + 1, tile->numbers[slot] = tile->value_count;
  tile->hashes[tile->value_count] = hash;
  return tile->value_count++;
}

static inline void put_tags(
    struct tile *tile, sqlite3_stmt *row, const struct column *columns, int count) {
  tile->tags.count = 0;
  for (int i = 0; i < count; i++) {
    size_t start = tile->values.count;
    struct bytes *values = &tile->values;
    switch (sqlite3_column_type(row, i + 2)) {
      case SQLITE_INTEGER: {
        int64_t value = sqlite3_column_int64(row, i + 2);
        unsigned char text[12] = {columns[i].is_flag ? 0x38 : value < 0 ? 0x30 : 0x28};
        uint64_t word = value < 0 ? zigzag(value) : (uint64_t)value;
        int size = 1;
        while (word >= 0x80) text[size++] = word | 0x80, word >>= 7;
        text[size++] = word;
        put_field(values, 0x22, text, size);
        break;
      }
      case SQLITE_FLOAT: {
        unsigned char text[9] = {0x19};
        double value = sqlite3_column_double(row, i + 2);
        memcpy(text + 1, &value, 8);
        put_field(values, 0x22, text, 9);
        break;
      }
      case SQLITE_TEXT: {
        const unsigned char *text = sqlite3_column_text(row, i + 2);
        size_t size = sqlite3_column_bytes(row, i + 2);
        put_varint(values, 0x22);
        put_varint(values, size + (size < 0x80 ? 2 : 3));
        put_field(values, 0x0A, text, size);
        break;
      }
      default: continue;
    }
    put_varint(&tile->tags, i);
    put_varint(&tile->tags, value_number(tile, start));
  }
}

// Cuts a ring at one side of the buffer (Sutherland and Hodgman); gives its new length.
static inline size_t cut(
    const struct place *from, size_t count, struct place *to, int is_y, double limit, int sign) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    struct place a = from[i], b = from[i + 1 < count ? i + 1 : 0];
    double da = sign * ((is_y ? a.y : a.x) - limit), db = sign * ((is_y ? b.y : b.x) - limit);
    if (da <= 0) to[kept++] = a;
    if ((da <= 0) != (db <= 0)) {
      double share = da / (da - db);
      to[kept++] = (struct place){a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
    }
  }
  return kept;
}

// Rounds to the grid and leaves out what lies on a straight line; gives the ring's length.
static inline size_t simplified(struct tile *tile, size_t count) {
  struct grid_place *ring = tile->ring;
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    struct grid_place next = {lrint(tile->places[i].x), lrint(tile->places[i].y)};
    if (kept && ring[kept - 1].x == next.x && ring[kept - 1].y == next.y) continue;
    while (kept > 1) {
      struct grid_place a = ring[kept - 2], b = ring[kept - 1];
      int64_t turn = (int64_t)(b.x - a.x) * (next.y - b.y) - (int64_t)(b.y - a.y) * (next.x - b.x);
      if (turn) break;
      kept--;
    }
    ring[kept++] = next;
  }
  while (kept > 1 && ring[0].x == ring[kept - 1].x && ring[0].y == ring[kept - 1].y) kept--;
  return kept < 3 ? 0 : kept;
}

static inline void put_ring(struct tile *tile, size_t count, int is_outer, struct grid_place *last) {
  const struct grid_place *ring = tile->ring;
  int64_t area = 0;
  for (size_t i = 0; i < count; i++) {
    struct grid_place a = ring[i], b = ring[i + 1 < count ? i + 1 : 0];
    area += (int64_t)a.x * b.y - (int64_t)b.x * a.y;
  }
  int is_reversed = (area > 0) != is_outer;
  for (size_t i = 0; i < count; i++) {
    struct grid_place place = ring[is_reversed && i ? count - i : i];
    if (i == 0) put_varint(&tile->geometry, 9);
    if (i == 1) put_varint(&tile->geometry, (count - 1) << 3 | 2);
    put_varint(&tile->geometry, zigzag(place.x - last->x));
    put_varint(&tile->geometry, zigzag(place.y - last->y));
    *last = place;
  }
  put_varint(&tile->geometry, 15);
}

static inline void put_polygon(struct tile *tile, const unsigned char *wkb) {
  struct grid_place last = {0, 0};
  uint32_t rings = word_at(wkb + 5);
  const unsigned char *at = wkb + 9;
  for (uint32_t ring = 0; ring < rings; ring++) {
    size_t count = word_at(at);
    if (8 * count + 64 > tile->room) {
      tile->room = 16 * count + 64;
      tile->places = realloc(tile->places, tile->room * sizeof *tile->places);
      tile->cut = realloc(tile->cut, tile->room * sizeof *tile->cut);
      tile->ring = realloc(tile->ring, tile->room * sizeof *tile->ring);
    }
    struct place least = {INFINITY, INFINITY}, most = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++) {
      struct place place = on_grid(tile, at + 4 + 16 * i);
      least = (struct place){fmin(least.x, place.x), fmin(least.y, place.y)};
      most = (struct place){fmax(most.x, place.x), fmax(most.y, place.y)};
      tile->places[i] = place;
    }
    at += 4 + 16 * count;
    count--;  // the last position is the first
    int is_inside = least.x >= -BUFFER && least.y >= -BUFFER && most.x <= EXTENT + BUFFER &&
                    most.y <= EXTENT + BUFFER;
    for (int side = 0; side < 4 && !is_inside && count; side++) {
      count = cut(
          tile->places, count, tile->cut, side & 1, side < 2 ? -BUFFER : EXTENT + BUFFER,
          side < 2 ? -1 : 1);
      struct place *other = tile->places;
      tile->places = tile->cut, tile->cut = other;
    }
    count = simplified(tile, count);
    if (!count && ring == 0) return;
    if (count) put_ring(tile, count, ring == 0, &last);
  }
}

static inline void put_tile_feature(
    struct tile *tile, sqlite3_stmt *row, const struct column *columns, int count) {
  const unsigned char *wkb = well_known(sqlite3_column_blob(row, 1));
  int is_point = word_at(wkb + 1) == 1;
  tile->geometry.count = 0;
  if (is_point) {
    struct place place = on_grid(tile, wkb + 5);
    if (place.x < -BUFFER || place.y < -BUFFER || place.x > EXTENT + BUFFER ||
        place.y > EXTENT + BUFFER)
      return;
    put_varint(&tile->geometry, 9);
    put_varint(&tile->geometry, zigzag(lrint(place.x)));
    put_varint(&tile->geometry, zigzag(lrint(place.y)));
  } else {
    put_polygon(tile, wkb);
    if (!tile->geometry.count) return;
  }
  put_tags(tile, row, columns, count);
  struct bytes feature = {0};
  char room[32];
  feature.data = room, feature.room = sizeof room;
  put_varint(&feature, 0x08);
  put_varint(&feature, sqlite3_column_int64(row, 0));
  put_varint(&feature, 0x12);
  put_varint(&feature, tile->tags.count);
  struct bytes tail = {0};
  char tail_room[32];
  tail.data = tail_room, tail.room = sizeof tail_room;
  put_varint(&tail, 0x18);
  put_varint(&tail, is_point ? 1 : 3);
  put_varint(&tail, 0x22);
  put_varint(&tail, tile->geometry.count);
  put_varint(&tile->features, 0x12);
  put_varint(
      &tile->features, feature.count + tile->tags.count + tail.count + tile->geometry.count);
  put(&tile->features, feature.data, feature.count);
  put(&tile->features, tile->tags.data, tile->tags.count);
  put(&tile->features, tail.data, tail.count);
  put(&tile->features, tile->geometry.data, tile->geometry.count);
  tile->feature_count++;
}

// The finished tile; frees what it was made of.
static inline struct bytes finish_tile(
    struct tile *tile, const char *name, const struct column *columns, int count) {
  struct bytes result = {0};
  if (tile->feature_count) {
    struct bytes head = {0};
    put_varint(&head, 0x78), put_varint(&head, 2);
    put_field(&head, 0x0A, name, strlen(name));
    struct bytes keys = {0};
    for (int i = 0; i < count; i++)
      put_field(&keys, 0x1A, columns[i].name + 2, strlen(columns[i].name) - 4);
    put_varint(&keys, 0x28), put_varint(&keys, EXTENT);
    put_varint(&result, 0x1A);
    put_varint(&result, head.count + tile->features.count + keys.count + tile->values.count);
    put(&result, head.data, head.count);
    put(&result, tile->features.data, tile->features.count);
    put(&result, tile->values.data, tile->values.count);
    put(&result, keys.data, keys.count);
    free(head.data), free(keys.data);
  }
  free(tile->features.data), free(tile->values.data), free(tile->tags.data);
  free(tile->geometry.data), free(tile->offsets), free(tile->numbers), free(tile->hashes);
  free(tile->places), free(tile->cut), free(tile->ring);
  return result;
}
