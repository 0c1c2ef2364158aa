import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What the segments of a JPEG say; the picture itself is not decoded.
package struct JPEGStructure: Sendable {
  private(set) var size = PictureSize(width: 0, height: 0)
  private(set) var componentCount = 0
  /// Whether colours are kept at half of the width and half of the height (4:2:0).
  private(set) var hasHalfColors = false
  /// The first that can be read.
  private(set) var exif: ExifBlock?
  /// The segments of the colour profile, each with its marker.
  private(set) var profile: [UInt8] = []
  private let name: String

  private static let segmentLimit = 100_000

  /// - Parameter name: what to call the file in errors.
  /// - Throws: `.invalidData` for what is cut short or has no picture, `.unsupported` for one of too
  ///   many pixels.
  init(_ bytes: [UInt8], name: String) throws(FieldpackError) {
    self.name = name
    var offset = 2
    for _ in 0..<Self.segmentLimit {
      guard let marker = try Self.marker(bytes, &offset, name) else {
        try check()
        return
      }
      guard offset + 2 <= bytes.count else { throw Self.cutShort(name) }
      let length = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
      guard length >= 2 else { throw Self.wrong(name, "has a segment without a length") }
      guard offset + length <= bytes.count else { throw Self.cutShort(name) }
      try take(
        marker, bytes[offset + 2..<offset + length], all: bytes[offset - 2..<offset + length])
      offset += length
      if marker == 0xDA { try Self.passScan(bytes, &offset, name) }
    }
    throw Self.wrong(name, "has more than \(Self.segmentLimit) segments")
  }

  /// The marker at `offset`, which comes to stand behind it; `nil` at the end of the picture.
  private static func marker(
    _ bytes: [UInt8], _ offset: inout Int, _ name: String
  ) throws(FieldpackError) -> UInt8? {
    guard offset < bytes.count else { throw cutShort(name) }
    guard bytes[offset] == 0xFF else {
      throw wrong(name, "is damaged at byte \(offset), where a segment should begin")
    }
    while offset < bytes.count, bytes[offset] == 0xFF { offset += 1 }
    guard offset < bytes.count else { throw cutShort(name) }
    let marker = bytes[offset]
    offset += 1
    if marker == 0xD9 { return nil }
    guard marker >= 0xC0, !(0xD0...0xD8).contains(marker) else {
      throw wrong(name, "is damaged at byte \(offset - 1), where a segment should begin")
    }
    return marker
  }

  /// Goes to the marker after the data of a scan.
  private static func passScan(
    _ bytes: [UInt8], _ offset: inout Int, _ name: String
  ) throws(FieldpackError) {
    let start = offset
    let found = bytes.withUnsafeBytes { all -> Int? in
      var next = start
      while let base = all.baseAddress, next < all.count,
        let hit = memchr(base + next, 0xFF, all.count - next)
      {
        next = UnsafeRawPointer(hit) - base
        guard next + 1 < all.count else { return nil }
        let marker = all[next + 1]
        if marker == 0xFF {
          next += 1
        } else if marker == 0 || (0xD0...0xD7).contains(marker) {
          next += 2
        } else {
          return next
        }
      }
      return nil
    }
    guard let found else { throw cutShort(name) }
    offset = found
  }

  private mutating func take(
    _ marker: UInt8, _ content: ArraySlice<UInt8>, all: ArraySlice<UInt8>
  ) throws(FieldpackError) {
    switch marker {
    case _ where Self.isFrame(marker):
      guard componentCount == 0 else { throw Self.wrong(name, "has a second picture in the first") }
      try takeFrame(Array(content))
    case 0xE1: if exif == nil { exif = ExifBlock(content) }
    case 0xE2:
      // A profile has at most 255 parts.
      guard content.starts(with: Array("ICC_PROFILE\0".utf8)), profile.count < 255 << 16 else {
        break
      }
      profile += all
    default: break
    }
  }

  /// SOF0 to SOF15 without DHT, JPG and DAC, which share their range.
  static func isFrame(_ marker: UInt8) -> Bool {
    (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker)
  }

  private mutating func takeFrame(_ content: [UInt8]) throws(FieldpackError) {
    guard content.count >= 6, content.count >= 6 + 3 * Int(content[5]) else {
      throw Self.wrong(name, "has a frame without components")
    }
    size = PictureSize(
      width: Int(content[3]) << 8 | Int(content[4]),
      height: Int(content[1]) << 8 | Int(content[2]))
    componentCount = Int(content[5])
    let factors = (0..<componentCount).map { content[7 + 3 * $0] }
    hasHalfColors = factors == [0x22, 0x11, 0x11]
  }

  private func check() throws(FieldpackError) {
    guard componentCount > 0 else { throw Self.wrong(name, "has no picture") }
    try size.check(name)
  }

  private static func cutShort(_ name: String) -> FieldpackError {
    wrong(name, "is cut short: the end of the picture is missing")
  }

  private static func wrong(_ name: String, _ what: String) -> FieldpackError {
    FieldpackError(.invalidData, "\(name) \(what)", position: FilePosition(file: name))
  }
}

extension JPEGStructure {
  /// A picture without its own metadata, with those of another that it was made of.
  ///
  /// - Parameter picture: of a single scan or more, as ffmpeg writes it.
  /// - Returns: `nil` for what is no picture.
  func dressed(_ picture: [UInt8]) -> [UInt8]? {
    guard picture.starts(with: [0xFF, 0xD8]) else { return nil }
    var dressed: [UInt8] = [0xFF, 0xD8]
    if let exif = exif?.upright.bytes {
      let length = exif.count + 2
      dressed += [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)]
      dressed += exif
    }
    dressed += profile
    var offset = 2
    while offset + 4 <= picture.count, picture[offset] == 0xFF, picture[offset + 1] != 0xDA {
      let marker = picture[offset + 1]
      let end = offset + 2 + (Int(picture[offset + 2]) << 8 | Int(picture[offset + 3]))
      guard end > offset + 2, end <= picture.count else { break }
      // What programs tell of themselves, and comments.
      if !(0xE0...0xEF).contains(marker), marker != 0xFE { dressed += picture[offset..<end] }
      offset = end
    }
    return dressed + picture[offset...]
  }
}
