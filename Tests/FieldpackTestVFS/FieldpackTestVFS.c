#include "FieldpackTestVFS.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

// MARK: The record

static int record = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void put(uint8_t *target, uint64_t value, int count) {
  for (int i = 0; i < count; i++) target[i] = (uint8_t)(value >> (8 * i));
}

static void put_all(const void *bytes, size_t count) {
  const char *rest = bytes;
  while (count > 0) {
    ssize_t written = write(record, rest, count);
    if (written <= 0) return;
    rest += written;
    count -= (size_t)written;
  }
}

void fieldpack_record_add(
    int kind, const char *path, int64_t number, const void *bytes, size_t count) {
  if (record < 0) return;
  size_t length = strlen(path);
  uint8_t head[17];
  put(head, (uint64_t)kind, 1);
  put(head + 1, (uint64_t)number, 8);
  put(head + 9, length, 4);
  put(head + 13, count, 4);
  pthread_mutex_lock(&lock);
  put_all(head, sizeof head);
  put_all(path, length);
  put_all(bytes, count);
  pthread_mutex_unlock(&lock);
}

static void add_folder_sync(const char *path) {
  char folder[4096];
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 0;
  if (length >= sizeof folder) return;
  memcpy(folder, path, length);
  folder[length] = 0;
  fieldpack_record_add(FIELDPACK_RECORD_SYNC_FOLDER, folder, 0, 0, 0);
}

// MARK: Files

/// A file of the VFS below, which lies behind this in memory.
typedef struct recorded_file {
  sqlite3_file base;
  const char *path;
  // As in SQLite's own VFS: the first sync of a new journal puts its name on the disk, too.
  int syncs_folder;
  sqlite3_file *inner;
} recorded_file;

static sqlite3_file *inner_of(sqlite3_file *file) { return ((recorded_file *)file)->inner; }

static int file_close(sqlite3_file *file) {
  sqlite3_file *inner = inner_of(file);
  return inner->pMethods ? inner->pMethods->xClose(inner) : SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  sqlite3_file *inner = inner_of(file);
  return inner->pMethods->xRead(inner, bytes, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  recorded_file *own = (recorded_file *)file;
  int code = own->inner->pMethods->xWrite(own->inner, bytes, count, offset);
  if (code == SQLITE_OK && own->path) {
    fieldpack_record_add(FIELDPACK_RECORD_WRITE, own->path, offset, bytes, (size_t)count);
  }
  return code;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  recorded_file *own = (recorded_file *)file;
  int code = own->inner->pMethods->xTruncate(own->inner, size);
  if (code == SQLITE_OK && own->path) {
    fieldpack_record_add(FIELDPACK_RECORD_CUT, own->path, size, 0, 0);
  }
  return code;
}

static int file_sync(sqlite3_file *file, int flags) {
  recorded_file *own = (recorded_file *)file;
  int code = own->inner->pMethods->xSync(own->inner, flags);
  if (code != SQLITE_OK || !own->path) return code;
  fieldpack_record_add(FIELDPACK_RECORD_SYNC, own->path, 0, 0, 0);
  if (own->syncs_folder) add_folder_sync(own->path);
  own->syncs_folder = 0;
  return code;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  sqlite3_file *inner = inner_of(file);
  return inner->pMethods->xFileSize(inner, size);
}

static int file_lock(sqlite3_file *file, int level) {
  sqlite3_file *inner = inner_of(file);
  return inner->pMethods->xLock(inner, level);
}

static int file_unlock(sqlite3_file *file, int level) {
  sqlite3_file *inner = inner_of(file);
  return inner->pMethods->xUnlock(inner, level);
}

static int file_check_lock(sqlite3_file *file, int *result) {
  sqlite3_file *inner = inner_of(file);
  return inner->pMethods->xCheckReservedLock(inner, result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
  sqlite3_file *inner = inner_of(file);
  // A size given ahead is a write that is not seen here.
  if (operation == SQLITE_FCNTL_SIZE_HINT || operation == SQLITE_FCNTL_CHUNK_SIZE) return SQLITE_OK;
  return inner->pMethods->xFileControl(inner, operation, argument);
}

static int file_sector(sqlite3_file *file) {
  sqlite3_file *inner = inner_of(file);
  return inner->pMethods->xSectorSize(inner);
}

static int file_characteristics(sqlite3_file *file) {
  sqlite3_file *inner = inner_of(file);
  return inner->pMethods->xDeviceCharacteristics(inner);
}

static int shm_map(sqlite3_file *file, int page, int size, int extends, void volatile **memory) {
  sqlite3_file *inner = inner_of(file);
  return inner->pMethods->xShmMap(inner, page, size, extends, memory);
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  sqlite3_file *inner = inner_of(file);
  return inner->pMethods->xShmLock(inner, offset, count, flags);
}

static void shm_barrier(sqlite3_file *file) {
  sqlite3_file *inner = inner_of(file);
  inner->pMethods->xShmBarrier(inner);
}

static int shm_unmap(sqlite3_file *file, int removes) {
  sqlite3_file *inner = inner_of(file);
  return inner->pMethods->xShmUnmap(inner, removes);
}

// Version 2: without mapping, so that every write comes by xWrite.
static const sqlite3_io_methods methods = {
    2, file_close, file_read, file_write, file_truncate, file_sync, file_size, file_lock,
    file_unlock, file_check_lock, file_control, file_sector, file_characteristics, shm_map,
    shm_lock, shm_barrier, shm_unmap, 0, 0};

// MARK: The VFS

static sqlite3_vfs *below;

static int vfs_open(
    sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *result) {
  (void)vfs;
  recorded_file *own = (recorded_file *)file;
  memset(own, 0, sizeof *own);
  own->inner = (sqlite3_file *)(own + 1);
  int is_temporary = name == 0 || (flags & SQLITE_OPEN_DELETEONCLOSE);
  int exists = 0;
  if (!is_temporary) below->xAccess(below, name, SQLITE_ACCESS_EXISTS, &exists);
  int code = below->xOpen(below, name, own->inner, flags, result);
  if (code != SQLITE_OK) return code;
  own->base.pMethods = &methods;
  if (is_temporary) return code;
  own->path = name;
  int creates = (flags & SQLITE_OPEN_CREATE) != 0;
  own->syncs_folder =
      creates
      && (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL)) != 0;
  if (creates && !exists) fieldpack_record_add(FIELDPACK_RECORD_CREATE, name, 0, 0, 0);
  return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int syncs_folder) {
  (void)vfs;
  int code = below->xDelete(below, name, syncs_folder);
  if (code != SQLITE_OK) return code;
  fieldpack_record_add(FIELDPACK_RECORD_REMOVE, name, 0, 0, 0);
  if (syncs_folder) add_folder_sync(name);
  return code;
}

int fieldpack_record_begin(const char *path) {
  static sqlite3_vfs vfs;
  record = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  below = sqlite3_vfs_find(0);
  if (record < 0 || below == 0) return 1;
  // All that is not about contents and names stays the VFS below's.
  vfs = *below;
  vfs.zName = "fieldpack-recording";
  vfs.pNext = 0;
  vfs.szOsFile = (int)sizeof(recorded_file) + below->szOsFile;
  vfs.xOpen = vfs_open;
  vfs.xDelete = vfs_delete;
  return sqlite3_vfs_register(&vfs, 1);
}
