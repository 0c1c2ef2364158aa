import CZLIB
import FieldpackCore

/// Reads the contents of a gzip file (RFC 1952) from its start to its end.
///
/// Members that follow each other are one content, and zeros behind the last are padding. A checksum
/// that is wrong, an end before the member's own, and other bytes behind it are errors with the byte.
final class GzipReader {
  private let input: ByteInput
  private let allowed: Int
  private let stream: UnsafeMutablePointer<z_stream>
  private let packed: UnsafeMutableRawBufferPointer
  /// Bytes of the file that have been read into `packed`.
  private var bytesRead = 0
  private var bytesGiven = 0
  private var state = State.member

  private enum State {
    case member
    /// A member has ended.
    case between
  }

  init(_ input: ByteInput, limits: UnpackingLimits) throws(FieldpackError) {
    self.input = input
    allowed = limits.byteCount(ofPacked: input.size)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    packed = .allocate(byteCount: input.room(upTo: 1 << 16), alignment: 16)
    // 16 more than the largest window takes gzip's header and checksum, and nothing else.
    let code = inflateInit2_(
      stream, MAX_WBITS + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard code == Z_OK else { throw FieldpackError(.io, "out of memory for unpacking") }
    input.rewind()
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    packed.deallocate()
  }

  /// Fills a part of `window`, at least a byte; 0 is the end.
  func read(into window: UnsafeMutableRawBufferPointer) throws(FieldpackError) -> Int {
    while true {
      guard try fill() else {
        guard state == .member else { return 0 }
        throw damage("the file ends in the middle of its compressed data")
      }
      switch state {
      case .between: try beginMember()
      case .member:
        let count = try inflate(into: window)
        if count > 0 { return count }
      }
    }
  }

  /// Whether there are packed bytes.
  private func fill() throws(FieldpackError) -> Bool {
    if stream.pointee.avail_in > 0 { return true }
    let count = try input.read(into: packed)
    bytesRead += count
    stream.pointee.next_in = packed.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(count)
    return count > 0
  }

  private func inflate(into window: UnsafeMutableRawBufferPointer) throws(FieldpackError) -> Int {
    let room = min(window.count, 1 << 30)
    stream.pointee.next_out = window.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(room)
    let code = CZLIB.inflate(stream, Z_NO_FLUSH)
    let count = room - Int(stream.pointee.avail_out)
    switch code {
    case Z_OK, Z_BUF_ERROR: break
    case Z_STREAM_END: state = .between
    case Z_MEM_ERROR: throw FieldpackError(.io, "out of memory for unpacking")
    default:
      let reason = stream.pointee.msg.map { " (\(String(cString: $0)))" } ?? ""
      throw damage("the compressed data are damaged\(reason)")
    }
    bytesGiven += count
    guard bytesGiven <= allowed else {
      throw UnpackingLimits.refusal(input.name, allowed: allowed)
    }
    return count
  }

  /// Begins the next member, or passes over the padding that is all that follows.
  private func beginMember() throws(FieldpackError) {
    guard let next = stream.pointee.next_in else { return }
    if next.pointee == 0 {
      stream.pointee.next_in = next + 1
      stream.pointee.avail_in -= 1
      return
    }
    guard next.pointee == 0x1F, inflateReset(stream) == Z_OK else {
      throw damage("behind the compressed data is something else")
    }
    state = .member
  }

  private func damage(_ what: String) -> FieldpackError {
    let offset = bytesRead - Int(stream.pointee.avail_in)
    return FieldpackError(
      .invalidData, what, position: FilePosition(file: input.name, byteOffset: offset))
  }
}
