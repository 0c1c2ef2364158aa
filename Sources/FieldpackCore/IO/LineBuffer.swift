#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Lines of bytes that come in pieces cut anywhere, without more than one line in memory.
///
/// Lines end with LF or CR LF, or with the input.
package struct LineBuffer {
  package enum Line: Hashable {
    /// Where the line is, without its end; good until the next filling.
    case text(Range<Int>)
    /// A line longer than the limit, which is not kept.
    case tooLong
  }

  /// The longest line, in bytes, and the size of a piece.
  package let limit: Int
  private let pieceSize: Int
  private var bytes: [UInt8] = []
  private var start = 0
  private var searched = 0
  private var end = 0
  private var isDropping = false
  /// The number of the line that came last, from 1.
  package private(set) var number = 0

  package init(limit: Int = 1 << 20, pieceSize: Int = 1 << 16) {
    self.limit = limit
    self.pieceSize = pieceSize
  }

  /// Takes what `read` puts into the room it is given, and returns how much it was.
  package mutating func fill(
    _ read: (UnsafeMutableRawBufferPointer) throws(FieldpackError) -> Int
  ) throws(FieldpackError) -> Int {
    makeRoom()
    var result: Result<Int, FieldpackError> = .success(0)
    let free = end
    bytes.withUnsafeMutableBytes { buffer in
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[free...])
      result = Result { () throws(FieldpackError) in try read(room) }
    }
    let count = try result.get()
    end += count
    return count
  }

  private mutating func makeRoom() {
    if end - start > limit || isDropping && end > start {
      isDropping = true
      (start, searched, end) = (0, 0, 0)
    }
    if start > 0 {
      let kept = end - start
      bytes.withUnsafeMutableBytes { buffer in
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
      }
      (start, searched, end) = (0, searched - start, kept)
    }
    let wanted = end + pieceSize
    if bytes.count < wanted {
      let larger = max(wanted, min(bytes.count * 2, limit + pieceSize))
      bytes.append(contentsOf: repeatElement(0, count: larger - bytes.count))
    }
  }

  /// The next line that is whole; `nil` where more has to come.
  package mutating func next() -> Line? {
    guard let newline = firstNewline() else {
      searched = end
      return nil
    }
    defer { (start, searched) = (newline + 1, newline + 1) }
    return line(upTo: newline)
  }

  /// What stands behind the last line's end, when the input has ended.
  package mutating func last() -> Line? {
    guard start < end || isDropping else { return nil }
    defer { (start, searched) = (end, end) }
    return line(upTo: end)
  }

  private func firstNewline() -> Int? {
    guard searched < end else { return nil }
    return bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress,
        let found = memchr(base + searched, Int32(UInt8(ascii: "\n")), end - searched)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }

  private mutating func line(upTo newline: Int) -> Line {
    number += 1
    let isTooLong = isDropping || newline - start > limit
    isDropping = false
    guard !isTooLong else { return .tooLong }
    let hasReturn = newline > start && bytes[newline - 1] == UInt8(ascii: "\r")
    return .text(start..<newline - (hasReturn ? 1 : 0))
  }

  /// Lends the bytes of a line.
  package func withBytes<R, E: Error>(
    _ range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    var result: Result<R, E>?
    bytes.withUnsafeBufferPointer { bytes in
      let line = UnsafeBufferPointer(rebasing: bytes[range])
      result = Result { () throws(E) in try body(line) }
    }
    guard let result else { preconditionFailure("the body is always called") }
    return try result.get()
  }
}
