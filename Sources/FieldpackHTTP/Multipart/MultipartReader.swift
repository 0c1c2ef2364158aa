package import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads a form of several parts, `multipart/form-data` (RFC 7578), as its bytes come, wherever they
/// are cut.
///
///     var reader = try MultipartReader(contentType: type, mostParts: 64)
///     for chunk in chunks {
///       var bytes = chunk[...]
///       while let event = try reader.next(&bytes) { … }
///     }
///     try reader.finish()
///
/// It keeps the header of one part at most, and nothing of what parts hold. After an error it reads
/// no more.
package struct MultipartReader: Sendable {
  package enum Event: Hashable, Sendable {
    case part(MultipartHead)
    /// The next bytes of the part, as many as came; a part may have none.
    case content(ArraySlice<UInt8>)
    /// The part is whole.
    case end
  }

  private enum Place {
    case firstMark, afterMark, padding, lineFeed, secondDash, head, content, closed
  }

  /// The header of a part may be so long, in bytes.
  package static let longestHead = 8192

  /// What ends a part: a line end, two dashes and the boundary.
  private let mark: [UInt8]
  private let mostParts: Int
  private var place = Place.firstMark
  /// How many bytes of the mark came last; those before the first one go without its line end.
  private var matched = 2
  /// How many of them are of the header's end, and not of the part where no mark comes of them.
  private var shared = 2
  private var head: [UInt8] = []
  private var parts = 0

  /// - Parameters:
  ///   - contentType: the value of the field `Content-Type`, which names the boundary.
  ///   - mostParts: more of them are refused.
  /// - Throws: `.invalidData` for what is no form or names no boundary.
  package init(contentType: String, mostParts: Int) throws(FieldpackError) {
    let type = contentType.split(separator: ";", omittingEmptySubsequences: false)[0]
    guard type.trimmedOfSpace.lowercased() == "multipart/form-data",
      let boundary = HTTPSyntax.parameter("boundary", of: contentType),
      (1...70).contains(boundary.utf8.count),
      boundary.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else {
      throw FieldpackError(
        .noBoundary, "the request is no multipart/form-data with a boundary")
    }
    mark = Array("\r\n--\(boundary)".utf8)
    self.mostParts = mostParts
  }

  /// Takes bytes from the front, up to the next thing that there is to tell.
  ///
  /// - Returns: `nil` where all bytes are taken, and more are needed.
  /// - Throws: `.invalidData`, of a ``MultipartFailure``.
  package mutating func next(
    _ bytes: inout ArraySlice<UInt8>
  ) throws(FieldpackError) -> Event? {
    while true {
      switch place {
      case .content: return content(&bytes)
      case .head: return try readHead(&bytes).map(Event.part)
      case .closed:
        // What comes after the last boundary is nobody's.
        bytes = bytes[bytes.endIndex...]
        return nil
      default:
        guard let byte = bytes.popFirst() else { return nil }
        try takeMark(byte)
      }
    }
  }

  /// - Throws: `.invalidData`, of ``MultipartFailure/noEnd``, where the last boundary did not come.
  package func finish() throws(FieldpackError) {
    guard place == .closed else {
      throw FieldpackError(.noEnd, "the body ends before its last boundary")
    }
  }

  // MARK: Boundaries

  /// Takes a byte of the first mark, or one between a mark and a header.
  private mutating func takeMark(_ byte: UInt8) throws(FieldpackError) {
    switch (place, byte) {
    case (.firstMark, _):
      guard byte == mark[matched] else {
        throw FieldpackError(.wrongBoundary, "the body does not begin with its boundary")
      }
      matched += 1
      if matched == mark.count { place = .afterMark }
    case (.afterMark, UInt8(ascii: "-")): place = .secondDash
    case (.secondDash, UInt8(ascii: "-")): place = .closed
    case (.afterMark, UInt8(ascii: " ")), (.afterMark, UInt8(ascii: "\t")),
      (.padding, UInt8(ascii: " ")), (.padding, UInt8(ascii: "\t")):
      place = .padding
    case (.afterMark, UInt8(ascii: "\r")), (.padding, UInt8(ascii: "\r")): place = .lineFeed
    case (.lineFeed, UInt8(ascii: "\n")):
      guard parts < mostParts else {
        throw FieldpackError(.tooManyParts, "the body has more than \(mostParts) parts")
      }
      parts += 1
      place = .head
    default: throw FieldpackError(.malformed, "a boundary of the body does not end with its line")
    }
  }

  // MARK: Headers

  /// `nil` where more bytes are needed.
  private mutating func readHead(
    _ bytes: inout ArraySlice<UInt8>
  ) throws(FieldpackError) -> MultipartHead? {
    while let byte = bytes.popFirst() {
      guard head.count < Self.longestHead else {
        throw FieldpackError(
          .longHead, "the header of a part is longer than \(Self.longestHead) bytes")
      }
      head.append(byte)
      guard byte == UInt8(ascii: "\n"),
        head.count == 2 ? head[0] == UInt8(ascii: "\r") : head.suffix(4) == Self.blankLine[...]
      else { continue }
      let read = try MultipartHead(head.dropLast(2))
      head = []
      (matched, shared) = (2, 2)
      place = .content
      return read
    }
    return nil
  }

  private static let blankLine = Array("\r\n\r\n".utf8)

  // MARK: Contents

  /// `nil` where more bytes are needed.
  private mutating func content(_ bytes: inout ArraySlice<UInt8>) -> Event? {
    if matched > 0 {
      let came = zip(mark[matched...], bytes).prefix { $0 == $1 }.count
      if matched + came == mark.count {
        bytes = bytes.dropFirst(came)
        place = .afterMark
        return .end
      }
      if came == bytes.count {
        matched += came
        bytes = bytes.dropFirst(came)
        return nil
      }
      // No mark came of it. Only its first byte is a CR, so that no other byte begins one.
      let kept = mark[shared..<matched]
      (matched, shared) = (0, 0)
      if !kept.isEmpty { return .content(kept) }
    }
    guard !bytes.isEmpty else { return nil }
    let start = markStart(in: bytes)
    if start == bytes.startIndex {
      matched = 1
      bytes = bytes.dropFirst()
      return content(&bytes)
    }
    let content = bytes[..<start]
    bytes = bytes[start...]
    return .content(content)
  }

  /// Where a mark begins, or where the last bytes may begin one; the end where none does.
  private func markStart(in bytes: ArraySlice<UInt8>) -> Int {
    let offset = bytes.withUnsafeBytes { all in
      var offset = 0
      while let base = all.baseAddress, offset < all.count,
        let found = memchr(base + offset, 0x0D, all.count - offset)
      {
        offset = UnsafeRawPointer(found) - base
        if memcmp(found, mark, min(mark.count, all.count - offset)) == 0 { return offset }
        offset += 1
      }
      return all.count
    }
    return bytes.startIndex + offset
  }
}
