// GDAL as a peer: the library is loaded from where a Python wheel has it, because the newest GDAL
// comes to Debian 12 only there.
//
//   gdal LIBRARY translate OUT IN [OPTION...]    ogr2ogr's own code; --config NAME VALUE is obeyed;
//                                                with -update or -append OUT is changed
//   gdal LIBRARY check OUT IN                    'gdal vector check-geometry': OUT gets what is found
//   gdal LIBRARY sql FILE SQL                    runs a statement that changes the file
//   gdal LIBRARY scan|arrow FILE LAYER           reads every feature
//   gdal LIBRARY boxes|ids FILE LAYER BOXES      one spatial filter a box; the file is opened before
//   gdal LIBRARY relation FILE LAYER WKT         features that intersect the geometry in a file
//   gdal LIBRARY where FILE LAYER CONDITION      features that match an attribute filter
//   gdal LIBRARY digest FILE LAYER [xy]          count and checksum of coordinates in their order
//   gdal LIBRARY version
//
// Prints one JSON line as FieldpackBench does. Build: cc -O2 gdal.c -ldl -o gdal
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "timing.h"

typedef void *Handle;

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#define FUNCTIONS(F)                                                                        \
  F(void, GDALAllRegister, (void))                                                          \
  F(const char *, GDALVersionInfo, (const char *))                                          \
  F(Handle, GDALOpenEx,                                                                     \
    (const char *, unsigned, const char *const *, const char *const *, const char *const *)) \
  F(int, GDALClose, (Handle))                                                               \
  F(Handle, GDALVectorTranslateOptionsNew, (char **, Handle))                               \
  F(Handle, GDALVectorTranslate, (const char *, Handle, int, Handle *, Handle, int *))      \
  F(void, CPLSetConfigOption, (const char *, const char *))                                 \
  F(Handle, GDALDatasetGetLayerByName, (Handle, const char *))                              \
  F(Handle, GDALDatasetGetLayer, (Handle, int))                                             \
  F(Handle, GDALDatasetExecuteSQL, (Handle, const char *, Handle, const char *))            \
  F(void, GDALDatasetReleaseResultSet, (Handle, Handle))                                    \
  F(void, OGR_L_ResetReading, (Handle))                                                     \
  F(Handle, OGR_L_GetNextFeature, (Handle))                                                 \
  F(int, OGR_L_GetArrowStream, (Handle, struct ArrowArrayStream *, char **))                \
  F(void, OGR_L_SetSpatialFilterRect, (Handle, double, double, double, double))             \
  F(void, OGR_L_SetSpatialFilter, (Handle, Handle))                                         \
  F(int, OGR_L_SetAttributeFilter, (Handle, const char *))                                  \
  F(int, OGR_L_SetIgnoredFields, (Handle, const char **))                                   \
  F(Handle, OGR_L_GetLayerDefn, (Handle))                                                   \
  F(int, OGR_FD_GetFieldCount, (Handle))                                                    \
  F(Handle, OGR_FD_GetFieldDefn, (Handle, int))                                             \
  F(const char *, OGR_Fld_GetNameRef, (Handle))                                             \
  F(int64_t, OGR_F_GetFID, (Handle))                                                        \
  F(Handle, OGR_F_GetGeometryRef, (Handle))                                                 \
  F(void, OGR_F_Destroy, (Handle))                                                          \
  F(int, OGR_G_WkbSize, (Handle))                                                           \
  F(int, OGR_G_GetPointCount, (Handle))                                                     \
  F(int, OGR_G_GetGeometryCount, (Handle))                                                  \
  F(Handle, OGR_G_GetGeometryRef, (Handle, int))                                            \
  F(double, OGR_G_GetX, (Handle, int))                                                      \
  F(double, OGR_G_GetY, (Handle, int))                                                      \
  F(double, OGR_G_GetZ, (Handle, int))                                                      \
  F(int, OGR_G_CreateFromWkt, (char **, Handle, Handle *))                                  \
  F(int64_t, OGR_L_GetFeatureCount, (Handle, int))                                          \
  F(Handle, GDALGetGlobalAlgorithmRegistry, (void))                                         \
  F(Handle, GDALAlgorithmRegistryInstantiateAlgFromPath, (Handle, const char *const *))     \
  F(bool, GDALAlgorithmParseCommandLineArguments, (Handle, const char *const *))            \
  F(bool, GDALAlgorithmRun, (Handle, Handle, void *))                                       \
  F(bool, GDALAlgorithmFinalize, (Handle))

#define DECLARE(result, name, parameters) static result(*name) parameters;
FUNCTIONS(DECLARE)

static void fail(const char *what) {
  fprintf(stderr, "gdal: %s\n", what);
  exit(1);
}

static void load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) fail(dlerror());
#define RESOLVE(result, name, parameters) \
  if (!(*(void **)&name = dlsym(library, #name))) fail("no " #name);
  FUNCTIONS(RESOLVE)
}

struct totals {
  long count;
  long long bytes, ids;
};

static void read_features(Handle layer, struct totals *totals) {
  Handle feature;
  OGR_L_ResetReading(layer);
  while ((feature = OGR_L_GetNextFeature(layer))) {
    Handle geometry = OGR_F_GetGeometryRef(feature);
    totals->count++;
    totals->ids += OGR_F_GetFID(feature);
    if (geometry) totals->bytes += OGR_G_WkbSize(geometry);
    OGR_F_Destroy(feature);
  }
}

// The geometry is the one binary column.
static void read_arrow(Handle layer, struct totals *totals) {
  struct ArrowArrayStream stream = {0};
  struct ArrowSchema schema = {0};
  if (!OGR_L_GetArrowStream(layer, &stream, 0)) fail("no Arrow stream");
  if (stream.get_schema(&stream, &schema)) fail(stream.get_last_error(&stream));
  for (;;) {
    struct ArrowArray batch = {0};
    if (stream.get_next(&stream, &batch)) fail(stream.get_last_error(&stream));
    if (!batch.release) break;
    totals->count += batch.length;
    for (int64_t column = 0; column < batch.n_children; column++) {
      if (strcmp(schema.children[column]->format, "z")) continue;
      const int32_t *offsets = batch.children[column]->buffers[1];
      totals->bytes += offsets[batch.length] - offsets[0];
    }
    batch.release(&batch);
  }
  schema.release(&schema);
  stream.release(&stream);
}

static void digest(Handle geometry, int with_z, double *sum) {
  int parts = OGR_G_GetGeometryCount(geometry);
  for (int part = 0; part < parts; part++) {
    digest(OGR_G_GetGeometryRef(geometry, part), with_z, sum);
  }
  if (parts) return;
  int points = OGR_G_GetPointCount(geometry);
  for (int i = 0; i < points; i++) {
    *sum += OGR_G_GetX(geometry, i) + 2 * OGR_G_GetY(geometry, i);
    if (with_z) *sum += 3 * OGR_G_GetZ(geometry, i);
  }
}

static int print_digest(Handle layer, int with_z) {
  double sum = 0;
  long count = 0, index = 0;
  Handle feature;
  OGR_L_ResetReading(layer);
  while ((feature = OGR_L_GetNextFeature(layer))) {
    Handle geometry = OGR_F_GetGeometryRef(feature);
    double own = 0;
    if (geometry) digest(geometry, with_z, &own);
    // The place makes the order count.
    sum += own * (1 + ++index % 7);
    count++;
    OGR_F_Destroy(feature);
  }
  printf("{\"count\":%ld,\"sum\":%.6f}\n", count, sum);
  return 0;
}

static void ignore_fields(Handle layer) {
  Handle definition = OGR_L_GetLayerDefn(layer);
  int count = OGR_FD_GetFieldCount(definition);
  const char **names = calloc(count + 2, sizeof *names);
  for (int i = 0; i < count; i++) {
    names[i] = OGR_Fld_GetNameRef(OGR_FD_GetFieldDefn(definition, i));
  }
  names[count] = "OGR_GEOMETRY";
  OGR_L_SetIgnoredFields(layer, names);
}

static int boxes(Handle layer, const char *path) {
  FILE *file = fopen(path, "r");
  double box[4];
  struct latencies latencies = {0};
  struct totals totals = {0};
  if (!file) fail("no boxes");
  double start = now();
  while (fscanf(file, "%lf %lf %lf %lf", box, box + 1, box + 2, box + 3) == 4) {
    double begin = now();
    OGR_L_SetSpatialFilterRect(layer, box[0], box[1], box[2], box[3]);
    read_features(layer, &totals);
    add_latency(&latencies, now() - begin);
  }
  print_latencies(now() - start, totals.count, totals.ids, &latencies);
  return 0;
}

static Handle geometry_in(const char *path) {
  static char text[1 << 20];
  char *rest = text;
  Handle geometry = 0;
  FILE *file = fopen(path, "r");
  if (!file || !fread(text, 1, sizeof text - 1, file)) fail("no geometry");
  OGR_G_CreateFromWkt(&rest, 0, &geometry);
  return geometry;
}

static int translate(const char *out, const char *in, char **options) {
  char *kept[64];
  int count = 0, failed = 0, changes = 0;
  for (; *options && count < 63; options++) {
    if (!strcmp(*options, "--config") && options[1] && options[2]) {
      CPLSetConfigOption(options[1], options[2]);
      options += 2;
      continue;
    }
    changes |= !strcmp(*options, "-update") || !strcmp(*options, "-append");
    kept[count++] = *options;
  }
  kept[count] = 0;
  double start = now();
  Handle source = GDALOpenEx(in, 4 | 0x40, 0, 0, 0);
  Handle target = changes ? GDALOpenEx(out, 4 | 1, 0, 0, 0) : 0;
  if (!source || (changes && !target)) fail("cannot open");
  Handle parsed = GDALVectorTranslateOptionsNew(kept, 0);
  Handle made = GDALVectorTranslate(changes ? 0 : out, target, 1, &source, parsed, &failed);
  if (!made || failed) fail("cannot translate");
  GDALClose(made);
  GDALClose(source);
  print_seconds(now() - start);
  return 0;
}

static int check(const char *out, const char *in) {
  const char *path[] = {"vector", "check-geometry", 0}, *words[] = {in, out, 0};
  double start = now();
  Handle algorithm =
    GDALAlgorithmRegistryInstantiateAlgFromPath(GDALGetGlobalAlgorithmRegistry(), path);
  if (!algorithm) fail("no check-geometry: this needs GDAL 3.12");
  if (!GDALAlgorithmParseCommandLineArguments(algorithm, words) ||
      !GDALAlgorithmRun(algorithm, 0, 0) || !GDALAlgorithmFinalize(algorithm)) {
    fail("cannot check");
  }
  double seconds = now() - start;
  Handle file = GDALOpenEx(out, 4, 0, 0, 0);
  if (!file) fail("cannot open what was found");
  print_totals(seconds, OGR_L_GetFeatureCount(GDALDatasetGetLayer(file, 0), 1), 0);
  GDALClose(file);
  return 0;
}

int main(int count, char **arguments) {
  if (count < 3) fail("usage: see the head of gdal.c");
  const char *work = arguments[2];
  load(arguments[1]);
  if (!strcmp(work, "version")) return puts(GDALVersionInfo("RELEASE_NAME")) < 0;
  if (count < 5) fail("usage: see the head of gdal.c");
  GDALAllRegister();
  if (!strcmp(work, "translate")) return translate(arguments[3], arguments[4], arguments + 5);
  if (!strcmp(work, "check")) return check(arguments[3], arguments[4]);

  double start = now();
  struct totals totals = {0};
  int updates = !strcmp(work, "sql");
  Handle file = GDALOpenEx(arguments[3], 4 | 0x40 | updates, 0, 0, 0);
  if (!file) fail("cannot open");
  if (updates) {
    Handle result = GDALDatasetExecuteSQL(file, arguments[4], 0, 0);
    if (result) GDALDatasetReleaseResultSet(file, result);
    GDALClose(file);
    print_seconds(now() - start);
    return 0;
  }
  Handle layer = GDALDatasetGetLayerByName(file, arguments[4]);
  if (!layer) layer = GDALDatasetGetLayer(file, 0);
  if (!layer) fail("no such layer");
  const char *argument = count > 5 ? arguments[5] : "";
  if (!strcmp(work, "digest")) return print_digest(layer, strcmp(argument, "xy"));
  if (!strcmp(work, "ids")) ignore_fields(layer);
  if (!strcmp(work, "boxes") || !strcmp(work, "ids")) return boxes(layer, argument);
  if (!strcmp(work, "relation")) OGR_L_SetSpatialFilter(layer, geometry_in(argument));
  if (!strcmp(work, "where")) OGR_L_SetAttributeFilter(layer, argument);
  if (!strcmp(work, "arrow")) {
    read_arrow(layer, &totals);
  } else {
    read_features(layer, &totals);
  }
  print_totals(now() - start, totals.count, totals.bytes);
  GDALClose(file);
  return 0;
}
