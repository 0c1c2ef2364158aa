#define _GNU_SOURCE
#include "mapped_reads.h"

#ifdef __linux__
#include <linux/magic.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/vfs.h>

// SQLite's VFS maps a file when a page is first fetched from it, and then copies what is read from the
// mapping (unixRead in os_unix.c). The pager fetches pages, and uses them in place, only by methods of
// version 3; so the file gets a copy of its methods that calls itself version 2.
struct methods {
  sqlite3_io_methods ours; // first, because the file points to it
  const sqlite3_io_methods *system;
  // The length of the file when it was mapped, of which SQLite maps 2 GiB at most; 0 where it is not mapped.
  sqlite3_int64 end;
  int beyond; // how many reads began beyond `end` since then
};

// A file that has grown is mapped again after so many reads beyond the end.
enum { MOST_BEYOND = 256 };

// Where this thread goes on when the mapping that it reads has no bytes.
static _Thread_local sigjmp_buf *volatile way_out;
static struct sigaction before;

static void bus_error(int number, siginfo_t *information, void *context) {
  int was_sent = information->si_code <= 0;
  if (way_out && information->si_code == BUS_ADRERR) siglongjmp(*way_out, 1);
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(number, information, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  } else if (!was_sent || before.sa_handler == SIG_DFL) {
    // The access is tried again and ends the process; a signal that was sent is sent again.
    signal(SIGBUS, SIG_DFL);
    if (was_sent) raise(SIGBUS);
  }
}

static void handle_bus_errors(void) {
  struct sigaction action = {.sa_sigaction = bus_error};
  // SIGBUS is not blocked meanwhile, because the way out does not come back to unblock it.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
}

static void limit(sqlite3_file *file, const sqlite3_io_methods *system, sqlite3_int64 bytes) {
  system->xFileControl(file, SQLITE_FCNTL_MMAP_SIZE, &bytes);
}

// Maps the file as it is now.
static void map(struct methods *methods, sqlite3_file *file) {
  const sqlite3_io_methods *system = methods->system;
  void *first = 0;
  methods->end = methods->beyond = 0;
  limit(file, system, 0);
  if (system->xFileSize(file, &methods->end) != SQLITE_OK) return;
  // As much as SQLite was built to map.
  limit(file, system, (sqlite3_int64)1 << 40);
  if (system->xFetch(file, 0, 1, &first) == SQLITE_OK && first) {
    system->xUnfetch(file, 0, first);
  } else {
    methods->end = 0;
    limit(file, system, 0);
  }
}

static int read_mapped(sqlite3_file *file, void *bytes, int count, sqlite3_int64 start) {
  struct methods *methods = (struct methods *)file->pMethods;
  sigjmp_buf here;
  if (!methods->end) return methods->system->xRead(file, bytes, count, start);
  if (sigsetjmp(here, 0)) {
    way_out = 0;
    methods->end = 0;
    limit(file, methods->system, 0);
    return methods->system->xRead(file, bytes, count, start);
  }
  if (start >= methods->end && ++methods->beyond == MOST_BEYOND) map(methods, file);
  way_out = &here;
  int code = methods->system->xRead(file, bytes, count, start);
  way_out = 0;
  return code;
}

static int close_mapped(sqlite3_file *file) {
  struct methods *methods = (struct methods *)file->pMethods;
  file->pMethods = methods->system;
  free(methods);
  return file->pMethods->xClose(file);
}

// Whether the file lies in a file system whose mappings show at once what others write. Those of other
// machines do not, and an overlay keeps the mapping of a file that it has copied.
static int is_local(const char *path) {
  enum { XFS = 0x58465342, ZFS = 0x2fc12fc1, BCACHEFS = 0xca451a4e, NTFS3 = 0x7366746e };
  struct statfs system;
  if (!path || statfs(path, &system) != 0) return 0;
  switch ((unsigned)system.f_type) {
  case EXT4_SUPER_MAGIC: // and ext2 and ext3
  case BTRFS_SUPER_MAGIC:
  case EXFAT_SUPER_MAGIC:
  case F2FS_SUPER_MAGIC:
  case MSDOS_SUPER_MAGIC:
  case TMPFS_MAGIC:
  case XFS:
  case ZFS:
  case (unsigned)BCACHEFS:
  case NTFS3: return 1;
  default: return 0;
  }
}

void fieldpack_map_reads(sqlite3 *db) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  sqlite3_file *file = 0;
  if (!is_local(sqlite3_db_filename(db, "main"))) return;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return;
  if (!file || !file->pMethods || file->pMethods->iVersion < 3) return;
  struct methods *methods = calloc(1, sizeof *methods);
  if (!methods) return;
  methods->system = file->pMethods;
  methods->ours = *file->pMethods;
  methods->ours.iVersion = 2;
  methods->ours.xRead = read_mapped;
  methods->ours.xClose = close_mapped;
  map(methods, file);
  if (!methods->end) {
    free(methods);
    return;
  }
  pthread_once(&once, handle_bus_errors);
  file->pMethods = &methods->ours;
}
#else
void fieldpack_map_reads(sqlite3 *db) { (void)db; }
#endif
