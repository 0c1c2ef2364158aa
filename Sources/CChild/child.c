#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

// Where the child keeps the pipe that tells why exec failed; above what it is given.
enum { INPUT = 3, FAILURE = 4, FIRST_OTHER = 5, OUT_OF_THE_WAY = 10 };

static int make_pipe(int ends[2]) {
#ifdef __linux__
  return pipe2(ends, O_CLOEXEC);
#else
  if (pipe(ends) != 0) return -1;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  return 0;
#endif
}

static void close_pipe(int ends[2]) {
  for (int i = 0; i < 2; i++) {
    if (ends[i] >= 0) close(ends[i]);
  }
}

// From here to exec the child is in our memory (vfork), while the calling thread waits: it calls the
// system and changes nothing that is not its own. After fork the handlers of libraries would run in
// it first, and PROJ's waits there for locks of SQLite that nobody holds any more.

static void close_others(void) {
#if defined(__linux__) && defined(SYS_close_range)
  if (syscall(SYS_close_range, FIRST_OTHER, ~0U, 0) == 0) return;
#endif
  struct rlimit files;
  int last = 65536;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < (rlim_t)last) last = files.rlim_cur;
  for (int descriptor = FIRST_OTHER; descriptor < last; descriptor++) close(descriptor);
}

static int limit(int what, uint64_t value) {
  struct rlimit known;
  if (getrlimit(what, &known) != 0) return -1;
  if (known.rlim_max != RLIM_INFINITY && known.rlim_max < value) value = known.rlim_max;
  struct rlimit wanted = {.rlim_cur = value, .rlim_max = value};
  return setrlimit(what, &wanted);
}

static int set_limits(const struct fieldpack_child_limits *limits) {
  if (limit(RLIMIT_CORE, 0) != 0 || limit(RLIMIT_CPU, limits->cpu_seconds) != 0 ||
      limit(RLIMIT_FSIZE, limits->file_size) != 0) {
    return -1;
  }
#ifdef __linux__
  return limit(RLIMIT_AS, limits->address_space);
#else
  return 0; // refused by Darwin
#endif
}

static void restore_signals(void) {
  struct sigaction as_usual = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) {
    sigaction(number, &as_usual, NULL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

// Puts `descriptors` at 0 to 4; none of them stands where another has to go.
static int place(const int descriptors[5]) {
  int moved[5];
  for (int i = 0; i < 5; i++) {
    moved[i] = descriptors[i] < 0 ? -1 : fcntl(descriptors[i], F_DUPFD, OUT_OF_THE_WAY);
    if (descriptors[i] >= 0 && moved[i] < 0) return -1;
  }
  close(INPUT);
  for (int i = 0; i < 5; i++) {
    if (moved[i] >= 0 && dup2(moved[i], i) < 0) return -1;
  }
  return fcntl(FAILURE, F_SETFD, FD_CLOEXEC);
}

// Not a part of its caller, whose variables would share their places on the stack with its own.
__attribute__((noinline, noreturn))
static void be_child(const char *program, char *const arguments[], char *const environment[],
                     const int descriptors[5], const struct fieldpack_child_limits *limits,
                     pid_t parent) {
  int failure = descriptors[4];
  setsid();
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#endif
  // It may have died before the wish to die with it was known.
  if (getppid() != parent) _exit(127);
  if (place(descriptors) == 0) {
    failure = FAILURE;
    close_others();
    if (set_limits(limits) == 0 && chdir("/") == 0) {
      restore_signals();
      execve(program, arguments, environment);
    }
  }
  int number = errno;
  ssize_t written = write(failure, &number, sizeof number);
  (void)written;
  _exit(127);
}

static int start(const char *program, char *const arguments[], char *const environment[],
                 const int descriptors[5], const struct fieldpack_child_limits *limits,
                 pid_t *process) {
  sigset_t all, before;
  sigfillset(&all);
  // A handler of ours must not run in the child.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t parent = getpid();
  pid_t child = vfork();
  if (child == 0) be_child(program, arguments, environment, descriptors, limits, parent);
  int number = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (child < 0) return number;
  *process = child;
  return 0;
}

int fieldpack_child_start(const char *program, char *const arguments[], char *const environment[],
                          int input, const struct fieldpack_child_limits *limits,
                          struct fieldpack_child *child) {
  int output[2] = {-1, -1}, errors[2] = {-1, -1}, failure[2] = {-1, -1}, number = 0;
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || make_pipe(output) != 0 || make_pipe(errors) != 0 || make_pipe(failure) != 0) {
    number = errno;
  } else {
    int descriptors[5] = {nothing, output[1], errors[1], input, failure[1]};
    number = start(program, arguments, environment, descriptors, limits, &child->process);
  }
  if (number == 0) {
    close(failure[1]);
    failure[1] = -1;
    ssize_t count;
    do {
      count = read(failure[0], &number, sizeof number);
    } while (count < 0 && errno == EINTR);
    if (count == (ssize_t)sizeof number) {
      waitpid(child->process, NULL, 0);
    } else {
      number = 0;
      fcntl(output[0], F_SETFL, O_NONBLOCK);
      fcntl(errors[0], F_SETFL, O_NONBLOCK);
      child->output = output[0];
      child->errors = errors[0];
      output[0] = errors[0] = -1;
    }
  }
  if (nothing >= 0) close(nothing);
  close_pipe(output);
  close_pipe(errors);
  close_pipe(failure);
  return number;
}

int fieldpack_child_has_ended(pid_t process, int *status) {
  siginfo_t info = {0};
  // While it is not waited for, its number and its group's are nobody else's.
  if (waitid(P_PID, process, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    *status = 0;
    return errno != EINTR;
  }
  if (info.si_pid == 0) return 0;
  kill(-process, SIGKILL);
  while (waitpid(process, status, 0) < 0 && errno == EINTR) {
  }
  return 1;
}

void fieldpack_child_kill(pid_t process) {
  kill(-process, SIGKILL);
  kill(process, SIGKILL);
}
