public import FieldpackCore
import FieldpackFormats

/// A `.scfg` file as it stands: every byte is kept, so writing it unchanged gives the same file.
///
/// JSON of at most 16 MiB, nested at most 64 deep, with or without a UTF-8 byte order mark.
public struct ConfigDocument: Sendable {
  public static let maximumByteCount = 16 << 20
  public static let maximumDepth = 64

  /// The file as the user named it.
  public let file: String
  public private(set) var bytes: [UInt8]
  /// The object that the file holds.
  public private(set) var root: ConfigValue
  /// Diagnostics of the text itself, such as a key that is given twice.
  public private(set) var diagnostics: [ConfigDiagnostic]
  private var lineStarts: [Int]

  /// - Throws: `.invalidData` with line and column for what is not one JSON object.
  public init(_ bytes: [UInt8], file: String) throws(FieldpackError) {
    self.file = file
    self.bytes = bytes
    lineStarts = [0]
    diagnostics = []
    root = ConfigValue(content: .null, range: 0..<0)
    guard bytes.count <= Self.maximumByteCount else {
      throw FieldpackError(
        .invalidData,
        "the config has \(bytes.count) bytes, more than the limit of \(Self.maximumByteCount)",
        position: FilePosition(file: file))
    }
    lineStarts = Self.lineStarts(bytes)
    var reader = ConfigReader(bytes)
    do throws(FieldpackError) {
      root = try reader.document()
    } catch {
      throw located(error)
    }
    diagnostics = reader.repeatedNames.map { member in
      diagnostic(
        .warning, at: member.offset, "key '\(member.name)' is given twice: the last counts")
    }
  }

  public init(contentsOf path: String) throws(FieldpackError) {
    let input = try ByteInput(path: path)
    try self.init(input.head(min(input.size, Self.maximumByteCount + 1)), file: path)
  }

  /// Writes the file whole or not at all.
  ///
  /// - Throws: `.cannotCreate` where it exists and `overwrite` is false.
  public func write(to path: String, overwrite: Bool = false) throws(FieldpackError) {
    let output = try ByteOutput(replacing: path, overwrite: overwrite)
    output.buffer += bytes
    try output.finish()
  }

  /// The folder of the files that the config's stores download: `survey.stores` for `survey.scfg`.
  func storeFolder(in folder: String) -> String {
    let name = file.split(separator: "/").last.map(String.init) ?? ""
    let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name[...]
    return FileSystem.join(folder, stem + ".stores")
  }

  /// Where a byte of the file stands.
  public func position(of offset: Int) -> FilePosition {
    var (low, high) = (0, lineStarts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    return FilePosition(
      file: file, line: low + 1, column: max(0, offset - lineStarts[low]) + 1)
  }

  func diagnostic(
    _ severity: ConfigDiagnostic.Severity, at offset: Int, _ message: String
  ) -> ConfigDiagnostic {
    let position = position(of: offset)
    return ConfigDiagnostic(
      severity, file: file, line: position.line ?? 1, column: position.column ?? 1, message)
  }

  /// Replaces the bytes and reads them anew.
  mutating func replace(_ changed: [UInt8]) throws(FieldpackError) {
    self = try ConfigDocument(changed, file: file)
  }

  private func located(_ error: FieldpackError) -> FieldpackError {
    FieldpackError(
      error.code, error.message, advice: error.advice,
      position: position(of: error.position?.byteOffset ?? 0))
  }

  /// The first line begins behind a byte order mark, so that columns are those of an editor.
  private static func lineStarts(_ bytes: [UInt8]) -> [Int] {
    var starts = [bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0]
    for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
      starts.append(index + 1)
    }
    return starts
  }
}

/// Builds the values of a config with their positions.
private struct ConfigReader: ~Copyable {
  private var scanner: JSONScanner
  private(set) var repeatedNames: [ConfigMember] = []

  init(_ bytes: [UInt8]) {
    var limits = JSONScanner.Limits()
    limits.depth = ConfigDocument.maximumDepth
    scanner = JSONScanner(bytes, limits: limits)
  }

  mutating func document() throws(FieldpackError) -> ConfigValue {
    try scanner.begin()
    guard try scanner.peek() == UInt8(ascii: "{") else {
      throw scanner.failure("a config is a JSON object, '{' expected", offset: scanner.offset)
    }
    let root = try value()
    guard try scanner.peek() == 0 else {
      throw scanner.failure("nothing may follow the object", offset: scanner.offset)
    }
    return root
  }

  /// Recursion ends at the scanner's depth limit.
  private mutating func value() throws(FieldpackError) -> ConfigValue {
    let first = try scanner.peek()
    let start = scanner.offset
    let content: ConfigValue.Content
    switch first {
    case UInt8(ascii: "{"): content = .object(try members())
    case UInt8(ascii: "["): content = .array(try elements())
    case UInt8(ascii: "\""):
      content = .text(String(decoding: try scanner.scanString(), as: UTF8.self))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try scanner.scanNumber()
      content = .number(String(decoding: scanner.numberText, as: UTF8.self))
    default:
      let letter = try scanner.scanLiteral()
      content = letter == UInt8(ascii: "n") ? .null : .boolean(letter == UInt8(ascii: "t"))
    }
    return ConfigValue(content: content, range: start..<scanner.offset)
  }

  private mutating func elements() throws(FieldpackError) -> [ConfigValue] {
    try scanner.enter()
    var elements: [ConfigValue] = []
    var isFirst = true
    while try scanner.nextElement(&isFirst) { elements.append(try value()) }
    return elements
  }

  private mutating func members() throws(FieldpackError) -> [ConfigMember] {
    try scanner.enter()
    var members: [ConfigMember] = []
    var names: Set<String> = []
    var isFirst = true
    while let bytes = try scanner.nextMember(&isFirst) {
      let name = String(decoding: bytes, as: UTF8.self)
      let offset = scanner.tokenOffset
      let member = ConfigMember(name: name, offset: offset, value: try value())
      if !names.insert(name).inserted { repeatedNames.append(member) }
      members.append(member)
    }
    return members
  }
}
