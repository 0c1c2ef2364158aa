package import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One picture of a live preview.
package struct PreviewFrame: Hashable, Sendable {
  /// As the sensor states it, such as `image/jpeg`.
  package var contentType: String?
  package var bytes: [UInt8]
}

/// Takes the parts out of `multipart/x-mixed-replace` as its bytes come, wherever they are cut.
///
/// Parts may state their length or not, lines may end with or without a carriage return, and what comes
/// before the first mark is passed over. Never more than one part is kept.
package struct PreviewReader: Sendable {
  private enum Place {
    case mark, head
    /// - Parameter length: where the part states it.
    case content(length: Int?)
    case ended
  }

  private static let longestHead = 8192
  private static let longestPreamble = 64 << 10

  /// Two dashes and the boundary.
  private let mark: [UInt8]
  private let limit: Int
  private var place = Place.mark
  private var buffer: [UInt8] = []
  /// Where in the buffer the next thing begins, and from where it is looked for.
  private var start = 0
  private var looked = 0
  private var contentType: String?

  /// - Parameters:
  ///   - contentType: the type of the answer, which names the boundary.
  ///   - limit: a longer part is refused.
  /// - Throws: `.invalidData` for what is no preview.
  package init(contentType: String, limit: Int = 16 << 20) throws(FieldpackError) {
    let parts = contentType.split(separator: ";").map(\.trimmedOfSpace)
    guard parts.first?.lowercased().hasPrefix("multipart/") == true,
      let parameter = parts.first(where: { $0.lowercased().hasPrefix("boundary=") })
    else { throw Self.error("the sensor's preview is no multipart/x-mixed-replace") }
    var boundary = parameter.dropFirst("boundary=".count).trimmedOfSpace
    if boundary.count > 1, boundary.hasPrefix("\""), boundary.hasSuffix("\"") {
      boundary = String(boundary.dropFirst().dropLast())
    }
    // Many cameras state the dashes as part of the boundary, and write them once.
    if boundary.hasPrefix("--") { boundary.removeFirst(2) }
    guard (1...200).contains(boundary.utf8.count) else {
      throw Self.error("the sensor's preview names no boundary")
    }
    mark = Array("--\(boundary)".utf8)
    self.limit = limit
  }

  /// Takes bytes, and gives the frames that are whole with them.
  ///
  /// - Throws: `.invalidData` where a part or its header is too long.
  package mutating func push(_ bytes: [UInt8]) throws(FieldpackError) -> [PreviewFrame] {
    buffer.append(contentsOf: bytes)
    var frames: [PreviewFrame] = []
    loop: while true {
      switch place {
      case .mark: guard try takeMark() else { break loop }
      case .head: guard try takeHead() else { break loop }
      case .content(let length):
        guard let frame = try takeContent(length) else { break loop }
        frames.append(frame)
      case .ended:
        buffer.removeAll()
        start = 0
        break loop
      }
    }
    if start > 0 {
      buffer.removeFirst(start)
      looked = max(0, looked - start)
      start = 0
    }
    return frames
  }

  private mutating func takeMark() throws(FieldpackError) -> Bool {
    guard let found = find(mark, from: max(start, looked)) else {
      guard buffer.count - start <= Self.longestPreamble else {
        throw Self.error("the sensor's preview does not begin with its boundary")
      }
      looked = max(start, buffer.count - mark.count)
      return false
    }
    let next = found + mark.count
    // The mark is followed by a line end, or by two dashes at the end of all.
    guard buffer.count >= next + 2 else {
      looked = found
      return false
    }
    let dash = UInt8(ascii: "-")
    start = next
    looked = next
    place = buffer[next] == dash && buffer[next + 1] == dash ? .ended : .head
    return true
  }

  private mutating func takeHead() throws(FieldpackError) -> Bool {
    var line = start
    var length: Int?
    contentType = nil
    var isFirst = true
    while let end = buffer[line...].firstIndex(of: UInt8(ascii: "\n")) {
      let text = String(decoding: buffer[line..<end], as: UTF8.self).trimmedOfSpace
      line = end + 1
      if text.isEmpty {
        // The rest of the line of the mark is empty, too.
        if isFirst {
          isFirst = false
          continue
        }
        start = line
        looked = line
        place = .content(length: length)
        return true
      }
      isFirst = false
      guard let colon = text.firstIndex(of: ":") else { continue }
      let value = text[text.index(after: colon)...].trimmedOfSpace
      switch text[..<colon].lowercased() {
      case "content-type": contentType = value
      case "content-length": length = Int(value)
      default: break
      }
      if let length, !(0...limit).contains(length) { throw tooLong }
    }
    guard buffer.count - start <= Self.longestHead else {
      throw Self.error("the header of a frame is too long")
    }
    return false
  }

  private mutating func takeContent(_ length: Int?) throws(FieldpackError) -> PreviewFrame? {
    if let length {
      guard buffer.count - start >= length else { return nil }
      return frame(to: start + length, next: start + length)
    }
    while let found = find(mark, from: looked) {
      let isAtLine =
        found == start || buffer[found - 1] == UInt8(ascii: "\n")
        || found >= start + 2 && buffer[found - 1] == UInt8(ascii: "-")
          && buffer[found - 2] == UInt8(ascii: "-")
      guard isAtLine else {
        looked = found + 1
        continue
      }
      var end = found
      if end >= start + 2, buffer[end - 1] == UInt8(ascii: "-"), buffer[end - 2] == buffer[end - 1]
      {
        end -= 2
      }
      if end > start, buffer[end - 1] == UInt8(ascii: "\n") { end -= 1 }
      if end > start, buffer[end - 1] == UInt8(ascii: "\r") { end -= 1 }
      guard end - start <= limit else { throw tooLong }
      return frame(to: end, next: found)
    }
    guard buffer.count - start <= limit + mark.count + 4 else { throw tooLong }
    looked = max(looked, buffer.count - mark.count)
    return nil
  }

  private mutating func frame(to end: Int, next: Int) -> PreviewFrame {
    let frame = PreviewFrame(contentType: contentType, bytes: Array(buffer[start..<end]))
    start = next
    looked = next
    place = .mark
    return frame
  }

  private func find(_ text: [UInt8], from offset: Int) -> Int? {
    guard offset < buffer.count else { return nil }
    return buffer.withUnsafeBytes { all in
      var offset = offset
      while let base = all.baseAddress, all.count - offset >= text.count,
        let found = memchr(base + offset, Int32(text[0]), all.count - offset - text.count + 1)
      {
        offset = UnsafeRawPointer(found) - base
        if memcmp(found, text, text.count) == 0 { return offset }
        offset += 1
      }
      return nil
    }
  }

  private var tooLong: FieldpackError {
    Self.error("a frame of the sensor's preview is longer than \(limit) bytes")
  }

  private static func error(_ message: String) -> FieldpackError {
    FieldpackError(.invalidData, message)
  }
}
