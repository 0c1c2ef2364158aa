import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// The file as a whole: clause 1.1.1.
struct ContainerCheck {
  let check: ConformanceCheck

  /// The number of messages is limited, because millions of pages can be damaged.
  private static let integrityLimit = 100

  func run() throws(FieldpackError) {
    try checkVersion()
    if !check.file.path.lowercased().hasSuffix(".gpkg") {
      try check.report(.error, .core(3), "the file's name does not end with .gpkg")
    }
    try checkIntegrity()
    try check.attempt(.core(7), "foreign keys") { () throws(FieldpackError) in
      try checkForeignKeys()
    }
  }

  private func checkVersion() throws(FieldpackError) {
    let application = try check.file.integer("PRAGMA application_id") ?? 0
    let version = try check.file.integer("PRAGMA user_version") ?? 0
    switch DeclaredVersion(application: application, user: version) {
    case .unknown(let reason):
      try check.report(
        .error, .core(2), reason, repair: check.isGeoPackage ? .fileHeader : nil)
    case .known(let version) where version > ConformanceCheck.knownVersion:
      try check.report(
        .warning, .core(2),
        "version \(DeclaredVersion.text(version)) is newer than 1.4, and checked as 1.4")
    case .known: break
    }
  }

  private func checkIntegrity() throws(FieldpackError) {
    var messages: [String] = []
    try check.attempt(.core(6), "the file") { () throws(FieldpackError) in
      try check.each("PRAGMA integrity_check(\(Self.integrityLimit))") { row in
        messages += Self.messages(row[0].textValue ?? "")
      }
    }
    let ofPages = messages.filter { !Self.isOfIndexes($0) && !Self.isOfValues($0) }
    for message in messages {
      if !ofPages.isEmpty {
        try check.reportDamage(message)
      } else {
        try check.report(
          .error, .core(6), message, repair: Self.isOfIndexes(message) ? .indexes : nil)
      }
    }
  }

  /// The messages in one row of the result. A row is one message, or several below a heading
  /// between asterisks. From SQLite 3.44 on it may also hold all messages about a virtual table.
  static func messages(_ text: String) -> [String] {
    let lines = text.split(separator: "\n").map(String.init)
    guard let head = lines.first, head.hasPrefix(rtreeHeading) else {
      return lines.filter { $0 != "ok" && !$0.hasPrefix("***") }
    }
    // The R-trees of layers are checked with the layers' rows.
    return head.hasPrefix(rtreeHeading + "main.rtree_") ? [] : [lines.joined(separator: " ")]
  }

  private static let rtreeHeading = "In RTree "

  private static func isOfIndexes(_ message: String) -> Bool {
    message.contains("missing from index") || message.hasPrefix("wrong # of entries in index")
  }

  /// Whether a message is about values: rows that violate a NOT NULL, CHECK, UNIQUE or STRICT of
  /// their table, and virtual tables' messages about rows.
  private static func isOfValues(_ message: String) -> Bool {
    message.hasPrefix("CHECK constraint failed in ") || message.hasPrefix("non-unique entry in ")
      || message.contains(" value in ") || message.hasPrefix(rtreeHeading)
      || message.hasPrefix("malformed inverted index for ")
  }

  private func checkForeignKeys() throws(FieldpackError) {
    try check.each("PRAGMA foreign_key_check") { (row) throws(FieldpackError) in
      try check.report(
        .error, .core(7), table: row[0].textValue, row: row[1].integerValue,
        "it refers to a row that is not in \(row[2].textValue ?? "?")")
    }
  }
}

/// The version that the file's header states.
enum DeclaredVersion: Hashable {
  /// In the form of `user_version`.
  case known(Int)
  case unknown(String)

  init(application: Int64, user: Int64) {
    switch application {
    case 0x4750_3130: self = .known(10_000)
    case 0x4750_3131: self = .known(10_100)
    case GeoPackageVersion.applicationID where user >= 10_200: self = .known(Int(clamping: user))
    case GeoPackageVersion.applicationID:
      self = .unknown("user_version is \(user), which no version from 1.2 on has")
    default:
      self = .unknown("application_id is \(Self.letters(application)), not GPKG, GP11 or GP10")
    }
  }

  /// The number; `nil` for an unknown version.
  var number: Int? {
    if case .known(let number) = self { number } else { nil }
  }

  /// `1.2` for 10200, `1.2.1` for 10201.
  static func text(_ number: Int) -> String {
    let (major, minor, patch) = (number / 10_000, number / 100 % 100, number % 100)
    return patch == 0 ? "\(major).\(minor)" : "\(major).\(minor).\(patch)"
  }

  private static func letters(_ application: Int64) -> String {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: application >> (24 - 8 * $0)) }
    guard bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return "\(application)" }
    return "'\(String(decoding: bytes, as: UTF8.self))'"
  }
}
