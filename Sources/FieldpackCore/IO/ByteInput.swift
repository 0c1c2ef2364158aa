#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that can be read from its start as often as needed. Standard input is copied to a
/// temporary file for that.
public final class ByteInput {
  /// The path as the user named it, `-` for standard input.
  public let name: String
  /// The path that was opened, beside which other files may lie; `nil` for standard input.
  package let path: String?
  private let descriptor: Int32
  private var position: Int = 0
  /// The size of the file in bytes.
  public let size: Int

  /// Opens a regular file for reading.
  ///
  /// - Parameter name: what errors call the file; `nil` for its path.
  /// - Throws: `.notFound`, `.permission`, or `.invalidArgument` for what is not a regular file.
  public init(path: String, name: String? = nil) throws(FieldpackError) {
    let name = name ?? path
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard opened >= 0 else { throw .system(errno, "open", name) }
    var status = stat()
    guard fstat(opened, &status) == 0 else {
      let number = errno
      close(opened)
      throw .system(number, "read", name)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(opened)
      throw FieldpackError(
        .invalidArgument, "\(name) is not a regular file", position: FilePosition(file: name))
    }
    descriptor = opened
    self.name = name
    self.path = path
    size = Int(status.st_size)
  }

  /// Copies what `source` gives until its end to an unnamed temporary file and reads that.
  ///
  /// - Parameters:
  ///   - folder: where the temporary file lies, by default `TMPDIR`, else `/tmp`.
  ///   - check: called with the number of bytes copied so far, ten times a second even while no
  ///     bytes arrive; throws to stop.
  public init(
    spooling source: Int32, name: String = "-", folder: String? = nil,
    check: ((_ copied: Int) throws(FieldpackError) -> Void)? = nil
  ) throws(FieldpackError) {
    let opened = try UnnamedFile.open(in: folder)
    descriptor = opened
    self.name = name
    path = nil
    do throws(FieldpackError) {
      size = try Self.copy(
        from: source, to: opened, path: "a temporary file", check: check ?? { _ in })
    } catch {
      // Swift runs no deinit where an initialiser throws before all properties are set.
      close(opened)
      throw error
    }
  }

  /// Copies what `pull` gives to an unnamed temporary file and reads that.
  ///
  /// - Parameter pull: fills a part of a window and says how many bytes; 0 is the end.
  package init(
    name: String, folder: String? = nil,
    pulling pull: (UnsafeMutableRawBufferPointer) throws(FieldpackError) -> Int
  ) throws(FieldpackError) {
    let opened = try UnnamedFile.open(in: folder)
    descriptor = opened
    self.name = name
    path = nil
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    var total = 0
    do throws(FieldpackError) {
      while true {
        let count = try pull(buffer)
        guard count > 0 else { break }
        try FileSystem.write(
          UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: opened, path: "a temporary file")
        total += count
      }
    } catch {
      close(opened)
      throw error
    }
    size = total
  }

  private static func copy(
    from source: Int32, to target: Int32, path: String,
    check: (Int) throws(FieldpackError) -> Void
  ) throws(FieldpackError) -> Int {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    var total = 0
    while true {
      repeat { try check(total) } while !isReady(source, within: 100)
      let count = readBytes(source, buffer)
      if count == 0 { return total }
      guard count > 0 else {
        if errno == EINTR { continue }
        throw .system(errno, "read", "standard input")
      }
      try FileSystem.write(
        UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: target, path: path)
      total += count
    }
  }

  /// Whether a read would return at once, with bytes, the end or an error.
  private static func isReady(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, milliseconds) != 0
  }

  /// The same file with a position of its own, to be read on another thread.
  package func another() throws(FieldpackError) -> ByteInput {
    let copied = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copied >= 0 else { throw .system(errno, "open", name) }
    return ByteInput(descriptor: copied, of: self)
  }

  private init(descriptor: Int32, of other: ByteInput) {
    self.descriptor = descriptor
    name = other.name
    path = other.path
    size = other.size
  }

  deinit { close(descriptor) }

  /// Moves to the start of the file.
  public func rewind() { position = 0 }

  /// Moves to a byte of the file.
  public func seek(to offset: Int) { position = max(0, offset) }

  /// Reads into `buffer` from where the last read ended; 0 is the end of the file.
  public func read(
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(FieldpackError) -> Int {
    guard !buffer.isEmpty else { return 0 }
    while true {
      let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(position))
      if count >= 0 {
        position += count
        return count
      }
      if errno != EINTR { throw .system(errno, "read", name) }
    }
  }

  /// The bytes of a buffer to read the file through: `most`, or fewer for a smaller file, whose end
  /// shows in a read that does not fill it.
  package func room(upTo most: Int) -> Int { min(most, size + 1) }

  /// Whether both files have the same bytes from where the last read ended.
  package func hasSameBytes(as other: ByteInput) throws(FieldpackError) -> Bool {
    while true {
      let (here, there) = (try next(1 << 18), try other.next(1 << 18))
      guard here == there else { return false }
      if here.isEmpty { return true }
    }
  }

  /// The first bytes of the file; the position of reading stays.
  public func head(_ count: Int) throws(FieldpackError) -> [UInt8] {
    let kept = position
    defer { position = kept }
    position = 0
    return try next(count)
  }

  /// The next bytes, fewer than `count` only at the end of the file.
  package func next(_ count: Int) throws(FieldpackError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    var failure: FieldpackError?
    bytes.withUnsafeMutableBytes { buffer in
      do throws(FieldpackError) {
        while filled < count {
          let got = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
          if got == 0 { break }
          filled += got
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
    return Array(bytes.prefix(filled))
  }
}

/// Calls `read(2)`, whose name a method of this class hides.
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, buffer.baseAddress, buffer.count)
}
