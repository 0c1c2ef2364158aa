import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What the boxes of a QuickTime or MPEG-4 file say of its first track of pictures.
///
/// Only the heads of boxes and a few small ones are read, at most 20,000 of them.
struct MovieHeader: Hashable, Sendable {
  /// As it is shown before it is turned: with pixels made square.
  private(set) var size = PictureSize(width: 0, height: 0)
  private(set) var turn = PictureTurn.none
  /// In seconds; `nil` where the header does not say.
  private(set) var duration: Double?

  /// - Parameter name: what to call the file in errors.
  /// - Throws: `.invalidData` for what is cut short or has no track of pictures, `.unsupported` for
  ///   pictures of too many pixels.
  init(_ descriptor: Int32, size fileSize: Int, name: String) throws(FieldpackError) {
    var boxes = MovieBoxes(descriptor, name)
    let top = try boxes.list(0..<fileSize, isTop: true)
    guard let movie = top.first(where: { $0.type == "moov" }) else {
      throw boxes.wrong(
        "has no header (moov): it is cut short, or is being written still. Try: finish it first")
    }
    let parts = try boxes.list(movie.content)
    if let header = parts.first(where: { $0.type == "mvhd" }) {
      duration = try boxes.duration(header)
    }
    for track in parts where track.type == "trak" {
      guard let found = try boxes.pictures(of: track) else { continue }
      (size, turn) = (found.size, found.turn)
      try found.stored.check(name)
      return
    }
    throw boxes.wrong("has no track of pictures")
  }
}

/// The boxes of a file: four bytes of length, four letters, content.
private struct MovieBoxes {
  struct Box {
    var type: String
    var content: Range<Int>
  }

  struct Pictures {
    var stored: PictureSize
    var size: PictureSize
    var turn: PictureTurn
  }

  private let descriptor: Int32
  private let name: String
  private var budget = 20_000

  init(_ descriptor: Int32, _ name: String) {
    self.descriptor = descriptor
    self.name = name
  }

  func wrong(_ what: String) -> FieldpackError {
    FieldpackError(.invalidData, "\(name) \(what)", position: FilePosition(file: name))
  }

  // MARK: Boxes

  /// The boxes in a range, which end with it.
  mutating func list(_ range: Range<Int>, isTop: Bool = false) throws(FieldpackError) -> [Box] {
    var boxes: [Box] = []
    var offset = range.lowerBound
    // Some programs end a list with a zero of four bytes.
    while range.upperBound - offset >= 8 {
      budget -= 1
      guard budget >= 0 else { throw wrong("has too many boxes") }
      let head = try bytes(offset, min(16, range.upperBound - offset))
      var (length, headLength) = (Self.number(head[0..<4]), 8)
      if length == 1, head.count == 16 {
        // The largest files have 63 bits for that; a sum beyond them must not overflow.
        guard head[8] == 0, head[9] == 0 else { throw wrong("has a box without a sensible length") }
        (length, headLength) = (Self.number(head[8..<16]), 16)
      } else if length == 0 {
        guard isTop else { return boxes }
        length = range.upperBound - offset
      }
      let type = String(decoding: head[4..<8], as: UTF8.self)
      guard length >= headLength else { throw wrong("has a box without a sensible length") }
      guard length <= range.upperBound - offset else {
        let missing = offset + length - range.upperBound
        throw wrong("is cut short: \(missing) bytes of its box '\(Self.shown(type))' are missing")
      }
      boxes.append(Box(type: type, content: offset + headLength..<offset + length))
      offset += length
    }
    return boxes
  }

  private static func shown(_ type: String) -> String {
    String(type.unicodeScalars.map { $0.isASCII && $0.value >= 32 ? Character($0) : "?" })
  }

  private mutating func child(_ type: String, of box: Box) throws(FieldpackError) -> Box? {
    try list(box.content).first { $0.type == type }
  }

  private func bytes(_ offset: Int, _ count: Int) throws(FieldpackError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = pread(descriptor, &bytes, count, off_t(offset))
    // That it cannot be read now is not what it is.
    guard got >= 0 else { throw .system(errno, "read", name) }
    guard got == count else { throw wrong("cannot be read at byte \(offset)") }
    return bytes
  }

  /// The first bytes of a box; `nil` where it has less.
  private func bytes(of box: Box, _ count: Int) throws(FieldpackError) -> [UInt8]? {
    box.content.count < count ? nil : try bytes(box.content.lowerBound, count)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }

  // MARK: Tracks

  /// What the header of a film says, in seconds.
  func duration(_ header: Box) throws(FieldpackError) -> Double? {
    guard let version = try bytes(of: header, 1),
      let fields = try bytes(of: header, version[0] == 1 ? 32 : 20)
    else { return nil }
    let (start, width) = version[0] == 1 ? (20, 8) : (12, 4)
    let scale = Self.number(fields[start..<start + 4])
    let length = fields[start + 4..<start + 4 + width]
    // All ones stand for a length that is not known.
    guard scale > 0, length.contains(where: { $0 != 0xFF }), length.first ?? 0 < 0x80 else {
      return nil
    }
    return Double(Self.number(length)) / Double(scale)
  }

  /// `nil` for a track of something else.
  mutating func pictures(of track: Box) throws(FieldpackError) -> Pictures? {
    guard let media = try child("mdia", of: track), let handler = try child("hdlr", of: media),
      let kind = try bytes(of: handler, 12), kind[8..<12].elementsEqual("vide".utf8),
      let information = try child("minf", of: media),
      let table = try child("stbl", of: information),
      let description = try child("stsd", of: table)
    else { return nil }
    guard description.content.count >= 8 else { return nil }
    let entries = description.content.lowerBound + 8..<description.content.upperBound
    // After the head of a visual entry come 78 bytes, then boxes.
    guard let entry = try list(entries).first, let fields = try bytes(of: entry, 78) else {
      return nil
    }
    let stored = PictureSize(
      width: Self.number(fields[24..<26]), height: Self.number(fields[26..<28]))
    return Pictures(
      stored: stored, size: try shown(stored, entry), turn: try turn(of: track))
  }

  /// With square pixels, by making the longer side of a pixel shorter.
  private mutating func shown(
    _ stored: PictureSize, _ entry: Box
  ) throws(FieldpackError) -> PictureSize {
    let rest = entry.content.lowerBound + 78..<entry.content.upperBound
    guard let aspect = try? list(rest).first(where: { $0.type == "pasp" }),
      let numbers = try bytes(of: aspect, 8)
    else { return stored }
    let (across, down) = (Self.number(numbers[0..<4]), Self.number(numbers[4..<8]))
    guard across > 0, down > 0, across != down else { return stored }
    var size = stored
    if across > down {
      size.height = max(1, Int((Double(size.height) * Double(down) / Double(across)).rounded()))
    } else {
      size.width = max(1, Int((Double(size.width) * Double(across) / Double(down)).rounded()))
    }
    return size
  }

  private mutating func turn(of track: Box) throws(FieldpackError) -> PictureTurn {
    guard let header = try child("tkhd", of: track), let version = try bytes(of: header, 1),
      // Times and the length are of four bytes, or of eight in version 1.
      let fields = try bytes(of: header, version[0] == 1 ? 88 : 76)
    else { return .none }
    let start = version[0] == 1 ? 52 : 40
    func entry(_ index: Int) -> Double {
      let bits = Self.number(fields[start + 4 * index..<start + 4 * index + 4])
      return Double(Int32(truncatingIfNeeded: bits)) / 65536
    }
    return PictureTurn(matrix: (a: entry(0), b: entry(1), c: entry(3), d: entry(4)))
  }
}
