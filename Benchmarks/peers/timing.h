// What the peers in C share: a clock, and figures as one JSON line.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

struct latencies {
  long count, capacity;
  double *values;
};

static inline void add_latency(struct latencies *latencies, double seconds) {
  if (latencies->count == latencies->capacity) {
    latencies->capacity = latencies->capacity ? 2 * latencies->capacity : 1024;
    latencies->values = realloc(latencies->values, latencies->capacity * sizeof(double));
    if (!latencies->values) abort();
  }
  latencies->values[latencies->count++] = seconds * 1e6;
}

static inline int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline void print_latencies(
    double seconds, long count, long long sum, struct latencies *latencies) {
  if (!latencies->count) exit(1);
  qsort(latencies->values, latencies->count, sizeof(double), compare_doubles);
  printf(
      "{\"seconds\":%.6f,\"count\":%ld,\"checksum\":[%lld],\"p50\":%.2f,\"p99\":%.2f}\n", seconds,
      count, sum, latencies->values[latencies->count / 2],
      latencies->values[latencies->count * 99 / 100]);
}

static inline void print_totals(double seconds, long count, long long sum) {
  printf("{\"seconds\":%.6f,\"count\":%ld,\"checksum\":[%lld]}\n", seconds, count, sum);
}

static inline void print_seconds(double seconds) { printf("{\"seconds\":%.6f}\n", seconds); }
