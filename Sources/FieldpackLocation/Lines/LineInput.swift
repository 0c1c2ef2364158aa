package import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Where lines are read from.
package enum LineInput: Sendable {
  case descriptor(Int32, name: String)
  case path(String)

  package var name: String {
    switch self {
    case .descriptor(_, let name): name
    case .path(let path): path
    }
  }

  var isForbidden: Bool {
    guard case .path(let path) = self else { return false }
    return access(path, R_OK) != 0 && errno == EACCES
  }

  var isThere: Bool {
    switch self {
    case .descriptor(let descriptor, _): fcntl(descriptor, F_GETFD) >= 0
    case .path(let path): access(path, F_OK) == 0 || errno == EACCES
    }
  }

  /// Whether it is a file by its path, which each reading begins anew.
  var isFile: Bool {
    guard case .path(let path) = self else { return false }
    var information = stat()
    return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
  }

  /// - Throws: with ``LocationFailure`` `permissionDenied` or `unavailable`.
  package func open() throws(FieldpackError) -> OpenInput {
    switch self {
    case .descriptor(let descriptor, _):
      return OpenInput(descriptor: descriptor, name: name, isOurs: false)
    case .path(let path):
      // A named pipe would else wait here for its writer, and nothing could stop it.
      let opened = openForReading(path)
      guard opened >= 0 else { throw Self.failure(errno, path) }
      return OpenInput(descriptor: opened, name: name, isOurs: true)
    }
  }

  private static func failure(_ number: Int32, _ path: String) -> FieldpackError {
    switch number {
    case EACCES, EPERM:
      FieldpackError(
        .permissionDenied,
        "\(path) must not be read (permission denied). Try: ls -l \(path), and for a serial "
          + "device to join its group, often dialout")
    case ENOENT, ENXIO, ENODEV, ENOTDIR:
      FieldpackError(
        .unavailable, "there is no \(path). Try: look whether the receiver is plugged in")
    default:
      .system(number, "open", path)
    }
  }
}

private func openForReading(_ path: String) -> Int32 {
  open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
}

/// A descriptor that is open for reading, and closed with this where it is ours.
package final class OpenInput: Sendable {
  private let descriptor: Int32
  private let name: String
  private let isOurs: Bool

  init(descriptor: Int32, name: String, isOurs: Bool) {
    self.descriptor = descriptor
    self.name = name
    self.isOurs = isOurs
  }

  deinit { if isOurs { close(descriptor) } }

  /// Whether it is a file, which begins with its first line; what comes from elsewhere may be joined
  /// anywhere.
  var isRegular: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Waits for bytes and reads them; 0 is the end.
  ///
  /// - Throws: `.interrupted` once `stop` is raised, also while nothing comes.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, until stop: StopSignal
  ) throws(FieldpackError) -> Int {
    while true {
      try stop.wait(for: descriptor)
      let count = readBytes(descriptor, buffer)
      if count >= 0 { return count }
      guard errno == EINTR || errno == EAGAIN else { throw .system(errno, "read", name) }
    }
  }
}

/// `read(2)`, out of the way of the method of that name.
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, buffer.baseAddress, buffer.count)
}

/// What ends a read that blocks, from any thread.
package final class StopSignal: Sendable {
  private let ends: (reading: Int32, writing: Int32)?
  private let isRaised = Locked(false)

  package init() {
    var pair: (Int32, Int32) = (-1, -1)
    let made = withUnsafeMutablePointer(to: &pair) { pair in
      pair.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
    }
    ends = made == 0 ? (pair.0, pair.1) : nil
    guard made == 0 else { return }
    for end in [pair.0, pair.1] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  deinit {
    guard let ends else { return }
    close(ends.reading)
    close(ends.writing)
  }

  package func raise() {
    let isFirst = isRaised.withLock { isRaised in
      defer { isRaised = true }
      return !isRaised
    }
    guard isFirst, let ends else { return }
    var byte: UInt8 = 0
    _ = write(ends.writing, &byte, 1)
  }

  package func check() throws(FieldpackError) {
    guard isRaised.withLock({ $0 }) else { return }
    throw FieldpackError(.interrupted, "the reading of lines was cancelled")
  }

  /// Waits until `descriptor` has something to read, its end or an error.
  package func wait(for descriptor: Int32) throws(FieldpackError) {
    guard let ends else { throw .system(EMFILE, "open", "a pipe") }
    var requests = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&requests, 2, -1) < 0, errno == EINTR {}
    try check()
  }
}
