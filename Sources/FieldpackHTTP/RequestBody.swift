import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The bytes of a request's body, from memory and files, read one after the other.
///
/// Used by one thread at a time.
final class RequestBody {
  private enum Piece {
    case bytes([UInt8])
    case file(OpenFile)

    var length: Int64 {
      switch self {
      case .bytes(let bytes): Int64(bytes.count)
      case .file(let file): file.length
      }
    }
  }

  private let pieces: [Piece]
  let length: Int64
  private var position: Int64 = 0

  init(_ body: HTTPRequest.Body) throws(FieldpackError) {
    switch body {
    case .none: pieces = []
    case .bytes(let bytes): pieces = [.bytes(bytes)]
    case .file(let path): pieces = [.file(try OpenFile(path))]
    case .multipart(let form): pieces = try Self.pieces(of: form)
    }
    length = pieces.reduce(0) { $0 + $1.length }
  }

  private static func pieces(of form: MultipartForm) throws(FieldpackError) -> [Piece] {
    let end = try form.end()
    var pieces: [Piece] = []
    for part in form.parts {
      pieces.append(.bytes(try form.head(of: part)))
      switch part.content {
      case .bytes(let bytes): pieces.append(.bytes(bytes))
      case .file(let path): pieces.append(.file(try OpenFile(path)))
      }
      pieces.append(.bytes(Array("\r\n".utf8)))
    }
    return pieces + [.bytes(end)]
  }

  /// Puts the next bytes into `space`; 0 at the end, -1 where a file is no longer what it was.
  func read(into space: UnsafeMutableRawBufferPointer) -> Int {
    var start: Int64 = 0
    for piece in pieces {
      defer { start += piece.length }
      guard position < start + piece.length else { continue }
      let offset = position - start
      let count = min(Int64(space.count), piece.length - offset)
      let read: Int
      switch piece {
      case .bytes(let bytes):
        read = Int(count)
        bytes.withUnsafeBytes { source in
          space.copyMemory(from: .init(rebasing: source[Int(offset)..<Int(offset) + read]))
        }
      case .file(let file):
        read = pread(file.descriptor, space.baseAddress, Int(count), off_t(offset))
      }
      guard read > 0 else { return -1 }
      position += Int64(read)
      return read
    }
    return 0
  }

  /// Goes on from `offset`, for a request that has to be sent again.
  func seek(to offset: Int64) -> Bool {
    guard (0...length).contains(offset) else { return false }
    position = offset
    return true
  }
}

/// A regular file that is open for reading; closed when it goes.
private final class OpenFile {
  let descriptor: Int32
  let length: Int64

  init(_ path: String) throws(FieldpackError) {
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard opened >= 0 else {
      let code: FieldpackError.Code = errno == ENOENT ? .notFound : .io
      throw FieldpackError(code, "cannot open \(path): \(String(cString: strerror(errno)))")
    }
    var status = stat()
    guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(opened)
      throw FieldpackError(.invalidArgument, "\(path) is no regular file and cannot be sent")
    }
    descriptor = opened
    length = Int64(status.st_size)
  }

  deinit { close(descriptor) }
}
