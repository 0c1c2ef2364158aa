public import FieldpackCore
import FieldpackMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension CaptureInfo.MediaKind {
  /// The kind of media in a file, detected from its first bytes.
  ///
  /// - Throws: `.notFound`, `.permission`; `.unsupported` for what no capture holds.
  public init(ofMediaAt path: String) throws(FieldpackError) {
    self = try FileToCopy(path).media(isWhole: false).kind
  }
}

/// A regular file that the user named, open for reading.
final class FileToCopy {
  let path: String
  private let descriptor: Int32
  private let size: Int

  /// - Throws: `.invalidArgument` for what is no regular file; `.unsupported` where it is longer than
  ///   what is read of captures.
  init(_ path: String) throws(FieldpackError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .system(errno, "open", path) }
    var status = stat()
    let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    size = Int(status.st_size)
    guard isRegular else {
      throw FieldpackError(.invalidArgument, "\(path) is no regular file")
    }
    guard size <= CaptureFolder.Limits.media else {
      throw FieldpackError(
        .unsupported,
        "\(path) has \(size) bytes; media of a capture have \(CaptureFolder.Limits.media) at most")
    }
  }

  deinit { close(descriptor) }

  /// What it is, by its bytes; of a picture all segments are looked at.
  ///
  /// - Parameter isWhole: whether a film has its header; else it may be in the making.
  /// - Throws: what ``MediaHeader`` and ``MediaFile`` do.
  func media(isWhole: Bool) throws(FieldpackError) -> MediaHeader {
    var start = [UInt8](repeating: 0, count: MediaType.length)
    let count = pread(descriptor, &start, start.count, 0)
    guard count >= 0 else { throw .system(errno, "read", path) }
    let media = try MediaHeader(
      start: Array(start[..<count]), name: path, for: MediaHeader.holder)
    guard isWhole || media.isPicture else { return media }
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw .system(errno, "open", path) }
    return try MediaFile((copy, size), name: path, for: MediaHeader.holder).header
  }

  func copy(to target: AppendedFile) throws(FieldpackError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    var offset = 0
    while true {
      let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(errno, "read", path) }
      if count == 0 { break }
      try target.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += count
    }
    try target.sync()
  }
}
