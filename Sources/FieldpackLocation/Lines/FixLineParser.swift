package import FieldpackCore
import FieldpackNMEA

/// Reads one line after the other as fixes and headings, in the format of the first.
package struct FixLineParser {
  private var format: LineSource.Format?
  private let device: String
  private var sentences = NMEADecoder(completesEarly: true)
  private var hasBegun = false

  package init(format: LineSource.Format?, device: String) {
    self.format = format
    self.device = device
  }

  /// - Throws: `.invalidData` without a position; the next line can be taken all the same.
  package mutating func take(
    _ line: UnsafeBufferPointer<UInt8>, into updates: inout [LocationUpdate]
  ) throws(FieldpackError) {
    let text = content(of: line)
    guard let first = text.first else { return }
    let isSentence = first != UInt8(ascii: "{")
    if format == nil { format = try Self.format(of: text) }
    switch format {
    case .nmea: try takeSentence(text, into: &updates)
    case .gpsd where isSentence: try takeSentence(text, into: &updates)
    case .gpsd: try GPSDReport.read(text, device: device, into: &updates)
    default: try JSONFixReader.read(text, device: device, into: &updates)
    }
  }

  /// Takes what the last sentences tell.
  package mutating func finish(into updates: inout [LocationUpdate]) {
    sentences.finish()
    giveEvents(to: &updates)
  }

  /// The line without white space, record separators and a byte order mark at its ends.
  private mutating func content(
    of line: UnsafeBufferPointer<UInt8>
  ) -> UnsafeBufferPointer<UInt8> {
    var text = line[...]
    if !hasBegun, text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
    hasBegun = true
    func isBlank(_ byte: UInt8) -> Bool {
      byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x1E
    }
    text = text.drop(while: isBlank)
    while let last = text.last, isBlank(last) { text = text.dropLast() }
    return UnsafeBufferPointer(rebasing: text)
  }

  private static func format(
    of line: UnsafeBufferPointer<UInt8>
  ) throws(FieldpackError) -> LineSource.Format {
    switch line.first {
    case UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "\\"): return .nmea
    case UInt8(ascii: "{"): return try GPSDReport.isReport(line) ? .gpsd : .json
    default:
      throw FieldpackError(
        .invalidData,
        "the line is neither JSON, nor an NMEA sentence, nor a report of gpsd, which is what fixes "
          + "are read from")
    }
  }

  /// Whether a line is what is left of an NMEA sentence whose beginning was missed: a sum at the end,
  /// or a part of one, and no sign that a sentence begins with.
  static func isEndOfSentence(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    var text = line[...]
    while let last = text.last, last == 0x0D || last == 0x20 { text = text.dropLast() }
    guard let first = text.first, !"${!\\".utf8.contains(first) else { return false }
    let sum = text.suffix(2)
    func isDigit(_ byte: UInt8) -> Bool {
      "0123456789ABCDEFabcdef".utf8.contains(byte)
    }
    let hasMark = text.count <= 2 || text.dropLast(2).last == UInt8(ascii: "*")
    return hasMark && sum.allSatisfy(isDigit)
  }

  private mutating func takeSentence(
    _ line: UnsafeBufferPointer<UInt8>, into updates: inout [LocationUpdate]
  ) throws(FieldpackError) {
    defer { giveEvents(to: &updates) }
    try sentences.take(line)
  }

  private mutating func giveEvents(to updates: inout [LocationUpdate]) {
    guard !sentences.events.isEmpty else { return }
    for event in sentences.events {
      switch event {
      case .fix(let fix): updates.append(.fix(Fix(fix, device: device)))
      case .heading(let degrees):
        updates.append(.heading(Heading(degrees: degrees, device: device)))
      case .waypoint: break
      }
    }
    sentences.events.removeAll(keepingCapacity: true)
  }
}

extension Fix {
  /// Metres of error for each unit of dilution, as receivers without correction have it.
  private static let metresOfDilution = 5.0

  fileprivate init(_ fix: NMEAFix, device: String) {
    let dilution = fix.hdop.map { $0 * Self.metresOfDilution }
    self.init(
      longitude: fix.longitude, latitude: fix.latitude, elevation: fix.elevation, time: fix.time,
      accuracy: fix.accuracy ?? dilution, course: fix.course, speed: fix.speed, device: device)
  }
}
