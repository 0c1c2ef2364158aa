import FieldpackCore

/// A file of a bundle.
enum BundleFile {
  static func read(_ path: String) throws(FieldpackError) -> [UInt8] {
    let input = try ByteInput(path: path)
    return try input.next(input.size)
  }

  static func isPage(_ name: String) -> Bool { ["html", "htm"].contains(ending(of: name)) }

  private static func ending(of name: String) -> String {
    guard let dot = name.lastIndex(of: ".") else { return "" }
    return name[name.index(after: dot)...].lowercased()
  }

  /// The media type by the ending of the name.
  static func type(of name: String, _ bytes: [UInt8]) -> String {
    let ending = ending(of: name)
    guard let type = types[ending] else { return "application/octet-stream" }
    // Text that is not UTF-8 is sent without a charset: old pages state their encoding themselves.
    let isText = type.hasPrefix("text/") && String(validating: bytes, as: UTF8.self) != nil
    return isText ? type + "; charset=utf-8" : type
  }

  private static let types = [
    "html": "text/html", "htm": "text/html", "js": "text/javascript", "mjs": "text/javascript",
    "css": "text/css", "txt": "text/plain", "csv": "text/csv", "xml": "text/xml",
    "json": "application/json", "map": "application/json", "geojson": "application/geo+json",
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
    "svg": "image/svg+xml", "webp": "image/webp", "ico": "image/x-icon", "bmp": "image/bmp",
    "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
    "mp3": "audio/mpeg", "mp4": "video/mp4", "webm": "video/webm", "pdf": "application/pdf",
    "wasm": "application/wasm",
  ]

  /// Puts an element first into the head of a page, before any script of its own.
  static func inserting(_ element: String, into page: [UInt8]) -> [UInt8] {
    let place =
      end(of: "<head", in: page) ?? end(of: "<html", in: page)
      ?? end(of: "<!doctype", in: page) ?? 0
    return Array(page[..<place]) + Array(element.utf8) + Array(page[place...])
  }

  /// Where the first tag of that name ends.
  private static func end(of tag: String, in page: [UInt8]) -> Int? {
    let tag = Array(tag.utf8)
    // What comes later than this is no head.
    let limit = min(page.count, 1 << 16)
    guard limit > tag.count else { return nil }
    for start in 0..<limit - tag.count
    where page[start] == tag[0] && zip(page[start...], tag).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) {
      let next = page[start + tag.count]
      guard next == UInt8(ascii: ">") || next <= 0x20 else { continue }
      return page[(start + tag.count)...].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 }
    }
    return nil
  }
}
