#pragma once
#include <stdint.h>

// The Arrow C data and C stream interfaces, as their specification has them; layouts and guards are
// those that other libraries use, so that one definition is enough.

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif

// Opens a layer of a GeoPackage as a stream of record batches: id, attributes, geometry as WKB.
//
// layer: NULL for the only one. bbox: minx, miny, maxx, maxy in the layer's SRS, or NULL for all.
// Gives 0 and fills `out`, which its release callback ends; else an errno, and in `error`, where it
// is not NULL, a text for fieldpack_arrow_free.
int fieldpack_arrow_open(const char *path, const char *layer, const double *bbox,
                         struct ArrowArrayStream *out, char **error);
void fieldpack_arrow_free(char *error);

#ifdef __cplusplus
}
#endif
