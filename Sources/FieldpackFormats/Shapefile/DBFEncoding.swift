import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Turns the text of a `.dbf` into UTF-8.
///
/// The `.cpg` beside the file names the encoding, else the language driver in its header does, else
/// it is ISO 8859-1, as GDAL has it.
struct DBFEncoding {
  private enum Kind {
    case utf8
    /// The UTF-8 of the bytes from 0x80 on, each in the low bytes of a number; 0 for none.
    case singleBytes([UInt32])
    case multiBytes(Converter)
  }

  private let kind: Kind
  /// What the files say that is not known.
  let unknown: String?
  /// Values that had bytes which are no text in the encoding.
  private(set) var brokenCount = 0
  let name: String

  /// - Parameters:
  ///   - codePage: the text of the `.cpg`.
  ///   - driver: the language driver of the header.
  init(codePage: String?, driver: UInt8) {
    let named = codePage.map(Self.name(ofCodePage:))
    let found = named ?? nil
    let name = found ?? Self.name(ofDriver: driver) ?? "ISO-8859-1"
    unknown = codePage != nil && found == nil ? codePage : nil
    guard name != "UTF-8" else {
      (kind, self.name) = (.utf8, name)
      return
    }
    guard let converter = Converter(name) else {
      (kind, self.name) = (.singleBytes((0x80...0xFF).map(Self.latin1)), "ISO-8859-1")
      return
    }
    self.name = name
    kind = Self.isMultiByte(name) ? .multiBytes(converter) : .singleBytes(converter.table())
  }

  private static func latin1(_ byte: Int) -> UInt32 {
    UInt32(0xC0 | byte >> 6) | UInt32(0x80 | byte & 0x3F) << 8
  }

  // MARK: Names

  private static let multiByte: Set<String> = [
    "CP932", "CP936", "CP949", "CP950", "BIG5", "GB18030", "EUC-JP",
  ]
  private static func isMultiByte(_ name: String) -> Bool { multiByte.contains(name) }

  /// The encoding that a `.cpg` names, as iconv calls it; `nil` where the text is none known.
  static func name(ofCodePage text: String) -> String? {
    let name = text.uppercased().filter { $0.isLetter || $0.isNumber }
    guard name.count <= 20 else { return nil }
    let digits = String(name.drop { !$0.isNumber })
    switch name {
    case "UTF8", "65001", "CP65001", "CSUTF8", "UNICODEUTF8": return "UTF-8"
    case "ASCII", "USASCII": return "ISO-8859-1"
    case "GBK", "GB2312", "CP936", "936", "EUCCN": return "CP936"
    case "GB18030", "54936": return "GB18030"
    case "BIG5", "BIGFIVE", "950", "CP950": return "CP950"
    case "SJIS", "SHIFTJIS", "932", "CP932", "MS932": return "CP932"
    case "EUCKR", "949", "CP949", "KSC5601", "UHC": return "CP949"
    case "EUCJP", "51932": return "EUC-JP"
    case "KOI8R", "20866": return "KOI8-R"
    case "KOI8U", "21866": return "KOI8-U"
    default: break
    }
    if name.hasPrefix("LDID"), let driver = UInt8(digits) { return Self.name(ofDriver: driver) }
    for start in ["ISO8859", "8859", "88591"] where name.hasPrefix(start) {
      let part = start == "88591" ? "1" : String(name.dropFirst(start.count))
      if let number = Int(part), (1...16).contains(number), number != 12 {
        return "ISO-8859-\(number)"
      }
    }
    guard let number = Int(digits), name.prefix(while: { !$0.isNumber }).count <= 9 else {
      return nil
    }
    if (28591...28605).contains(number) { return "ISO-8859-\(number - 28590)" }
    return knownPages.contains(number) ? "CP\(number)" : nil
  }

  private static let knownPages: Set<Int> = [
    437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869, 874, 1250, 1251,
    1252, 1253, 1254, 1255, 1256, 1257, 1258,
  ]

  /// The encoding of a language driver, by the table in ESRI's article 000013192.
  private static func name(ofDriver driver: UInt8) -> String? {
    if driver == 0x57 { return "ISO-8859-1" }
    return pages.first { $0.drivers.contains(driver) }.map { "CP\($0.page)" }
  }

  private static let pages: [(page: Int, drivers: [UInt8])] = [
    (437, [0x01, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x15, 0x18, 0x19, 0x1B]),
    (850, [0x02, 0x0A, 0x0E, 0x10, 0x12, 0x14, 0x16, 0x1A, 0x1D, 0x25, 0x37]),
    (1252, [0x03, 0x58, 0x59]), (865, [0x08, 0x17, 0x66]), (932, [0x13, 0x7B]),
    (863, [0x1C, 0x6C]), (852, [0x1F, 0x22, 0x23, 0x40, 0x64, 0x87]), (860, [0x24]),
    (866, [0x26, 0x65]), (936, [0x4D, 0x7A]), (949, [0x4E, 0x79]), (950, [0x4F, 0x78]),
    (874, [0x50, 0x7C]), (861, [0x67]), (737, [0x6A, 0x86]), (857, [0x6B, 0x88]),
    (1250, [0xC8]), (1251, [0xC9]), (1254, [0xCA]), (1253, [0xCB]), (1257, [0xCC]),
  ]

  // MARK: Text

  /// Appends the text as UTF-8; bytes that are none become U+FFFD and are counted.
  @inline(__always)
  mutating func append(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout GrowingBytes) {
    if text.isASCII { bytes.append(text) } else { appendOther(text, to: &bytes) }
  }

  private mutating func appendOther(
    _ text: UnsafeBufferPointer<UInt8>, to bytes: inout GrowingBytes
  ) {
    let isWhole: Bool
    switch kind {
    case .utf8: isWhole = Self.appendUTF8(text, to: &bytes)
    case .singleBytes(let table): isWhole = Self.append(text, by: table, to: &bytes)
    case .multiBytes(let converter): isWhole = converter.append(text, to: &bytes)
    }
    if !isWhole { brokenCount += 1 }
  }

  private static func append(
    _ text: UnsafeBufferPointer<UInt8>, by table: [UInt32], to bytes: inout GrowingBytes
  ) -> Bool {
    var isWhole = true
    for byte in text {
      guard byte >= 0x80 else {
        bytes.append(byte)
        continue
      }
      var rest = table[Int(byte) - 0x80]
      if rest == 0 {
        isWhole = false
        rest = 0xBDBFEF
      }
      while rest != 0 {
        bytes.append(UInt8(truncatingIfNeeded: rest))
        rest >>= 8
      }
    }
    return isWhole
  }

  private static func appendUTF8(
    _ text: UnsafeBufferPointer<UInt8>, to bytes: inout GrowingBytes
  ) -> Bool {
    if String(validating: text, as: UTF8.self) != nil {
      bytes.append(text)
      return true
    }
    var repaired = String(decoding: text, as: UTF8.self)
    repaired.withUTF8 { bytes.append($0) }
    return false
  }

  /// A name of a column.
  mutating func string(_ text: UnsafeBufferPointer<UInt8>) -> String {
    var bytes = GrowingBytes()
    append(text, to: &bytes)
    return String(decoding: bytes.bytes, as: UTF8.self)
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate var isASCII: Bool {
    var all: UInt8 = 0
    for byte in self { all |= byte }
    return all < 0x80
  }
}

/// A converter of the C library from one encoding to UTF-8.
private final class Converter {
  private let handle: iconv_t

  init?(_ name: String) {
    let opened = iconv_open("UTF-8", name)
    // iconv_open answers -1 where it does not know the name.
    guard Int(bitPattern: opened) != -1, let opened else { return nil }
    handle = opened
  }

  deinit { iconv_close(handle) }

  /// The UTF-8 of each byte from 0x80 on.
  func table() -> [UInt32] {
    (0x80...0xFF).map { byte in
      var bytes = GrowingBytes()
      let source = [UInt8(byte)]
      guard source.withUnsafeBufferPointer({ append($0, to: &bytes) }), bytes.count <= 4 else {
        return 0
      }
      return bytes.bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
  }

  /// Appends the text as UTF-8; false where bytes were replaced.
  func append(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout GrowingBytes) -> Bool {
    var isWhole = true
    var source = [CChar](unsafeUninitializedCapacity: text.count) { buffer, count in
      for (index, byte) in text.enumerated() { buffer[index] = CChar(bitPattern: byte) }
      count = text.count
    }
    // Four bytes of UTF-8 stand for one byte at most, and three for one that is replaced.
    var target = [CChar](repeating: 0, count: 4 * text.count + 16)
    let written = source.withUnsafeMutableBufferPointer { source in
      target.withUnsafeMutableBufferPointer { target in
        var (input, left): (UnsafeMutablePointer<CChar>?, Int) = (source.baseAddress, source.count)
        var (output, room): (UnsafeMutablePointer<CChar>?, Int) = (target.baseAddress, target.count)
        iconv(handle, nil, nil, nil, nil)
        while left > 0 {
          if iconv(handle, &input, &left, &output, &room) != -1 { break }
          isWhole = false
          guard left > 0, room >= 3, let next = input, let place = output else { break }
          for (index, byte) in [0xEF, 0xBF, 0xBD].enumerated() {
            place[index] = CChar(bitPattern: UInt8(byte))
          }
          (input, left, output, room) = (next + 1, left - 1, place + 3, room - 3)
          iconv(handle, nil, nil, nil, nil)
        }
        return target.count - room
      }
    }
    target.withUnsafeBytes { all in
      bytes.append(UnsafeBufferPointer(rebasing: all.bindMemory(to: UInt8.self)[..<written]))
    }
    return isWhole
  }
}
