import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Takes a body of `multipart/form-data` (RFC 7578) apart, without copying more than its parts.
struct MultipartReader {
  struct Part: Hashable, Sendable {
    var name: String
    var fileName: String?
    var content: [UInt8]
  }

  static let mostParts = 64
  private static let longestHead = 8192

  /// - Throws: `.invalidData`.
  static func parts(
    of body: [UInt8], contentType: String
  ) throws(FieldpackError) -> [Part] {
    guard contentType.lowercased().hasPrefix("multipart/form-data"),
      let boundary = parameter("boundary", of: contentType), !boundary.isEmpty,
      boundary.utf8.count <= 70
    else {
      throw FieldpackError(.invalidData, "the request is no multipart/form-data with a boundary")
    }
    let mark = Array("--\(boundary)".utf8)
    guard body.starts(with: mark) else {
      throw FieldpackError(.invalidData, "the body does not begin with its boundary")
    }
    var parts: [Part] = []
    var offset = mark.count
    while true {
      if body[offset...].starts(with: "--".utf8) { return parts }
      guard body[offset...].starts(with: "\r\n".utf8), parts.count < mostParts else {
        throw FieldpackError(
          .invalidData, "a boundary of the body has no end, or there are too many")
      }
      offset += 2
      let (part, next) = try part(of: body, from: offset, mark: mark)
      parts.append(part)
      offset = next
    }
  }

  private static func part(
    of body: [UInt8], from start: Int, mark: [UInt8]
  ) throws(FieldpackError) -> (Part, next: Int) {
    guard let blank = offset(of: Array("\r\n\r\n".utf8), in: body, from: start),
      blank - start <= longestHead,
      let end = offset(of: Array("\r\n".utf8) + mark, in: body, from: blank + 2)
    else { throw FieldpackError(.invalidData, "a part of the body has no end") }
    var disposition = ""
    for line in String(decoding: body[start..<blank], as: UTF8.self).split(separator: "\r\n")
    where line.lowercased().hasPrefix("content-disposition:") {
      disposition = String(line)
    }
    guard let name = parameter("name", of: disposition) else {
      throw FieldpackError(.invalidData, "a part of the body has no name")
    }
    let content = max(blank + 4, end) == end ? Array(body[(blank + 4)..<end]) : []
    let part = Part(
      name: name, fileName: parameter("filename", of: disposition), content: content)
    return (part, end + 2 + mark.count)
  }

  /// Where `text` begins at `start` or later; media are too long to be looked through item by item.
  private static func offset(of text: [UInt8], in body: [UInt8], from start: Int) -> Int? {
    body.withUnsafeBytes { body in
      text.withUnsafeBytes { text -> Int? in
        guard let base = body.baseAddress, let wanted = text.baseAddress, let first = text.first
        else { return nil }
        var offset = start
        while offset + text.count <= body.count {
          guard
            let found = memchr(base + offset, Int32(first), body.count - text.count + 1 - offset)
          else { return nil }
          offset = UnsafeRawPointer(found) - base
          if memcmp(found, wanted, text.count) == 0 { return offset }
          offset += 1
        }
        return nil
      }
    }
  }

  /// A parameter of a field's value, in quotes or without.
  private static func parameter(_ name: String, of value: String) -> String? {
    for piece in value.split(separator: ";").dropFirst() {
      let sides = piece.split(separator: "=", maxSplits: 1)
      guard sides.count == 2, sides[0].filter({ $0 != " " }).lowercased() == name else { continue }
      let text = sides[1].filter { $0 != "\"" }
      return String(text)
    }
    return nil
  }
}
