#pragma once
#include <stdint.h>
#include <sys/types.h>

// Programs as children that are shut in, for what cannot be said with posix_spawn: limits are set in
// the child before exec, where Swift must not run.

struct fieldpack_child_limits {
  uint64_t cpu_seconds;
  uint64_t address_space; // in bytes
  uint64_t file_size;     // in bytes, of each file that it writes
};

struct fieldpack_child {
  pid_t process; // also of its process group
  int output;    // to be read without waiting, as is errors; the caller closes both
  int errors;
};

// Starts `program`, a path, in a session of its own and in the folder "/".
//
// It has nothing to read as standard input, `input` as descriptor 3 where that is not -1, no other
// descriptor of ours, all signals as they are by default, and dies with the calling thread.
// Gives 0, or an errno where it could not be started.
int fieldpack_child_start(const char *program, char *const arguments[], char *const environment[],
                          int input, const struct fieldpack_child_limits *limits,
                          struct fieldpack_child *child);

// Whether the child has ended; then everything else of its group is ended, too, and `status` is as
// waitpid gives it.
int fieldpack_child_has_ended(pid_t process, int *status);

// Kills a child that is not known to have ended, with its group.
void fieldpack_child_kill(pid_t process);
