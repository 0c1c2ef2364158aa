#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `posix_spawn` with its lists of things to do first.
struct Spawn: ~Copyable {
  #if canImport(Glibc)
    private var actions = posix_spawn_file_actions_t()
    private var attributes = posix_spawnattr_t()
  #else
    private var actions: posix_spawn_file_actions_t?
    private var attributes: posix_spawnattr_t?
  #endif

  init() {
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    // The threads that tests run on block signals, and a child would inherit that.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
  }

  deinit {
    var (actions, attributes) = (actions, attributes)
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
  }

  /// Gives the child an open descriptor, or nothing to read.
  mutating func redirect(_ target: Int32, to source: Int32?) {
    if let source {
      posix_spawn_file_actions_adddup2(&actions, source, target)
    } else {
      posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0)
    }
  }

  mutating func redirect(_ target: Int32, toFile path: String) {
    posix_spawn_file_actions_addopen(
      &actions, target, path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
  }

  mutating func run(
    _ arguments: [String], _ environment: [String: String]
  ) throws -> pid_t {
    let name = arguments.first ?? ""
    var words = arguments.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in words + variables { free(pointer) } }
    var process: pid_t = 0
    let status = posix_spawnp(&process, name, &actions, &attributes, &words, &variables)
    guard status == 0 else {
      throw RunFailure(
        description: "cannot run \(name): \(String(cString: strerror(status)))")
    }
    return process
  }
}
