import FieldpackCore

/// The names of files that are each for one value: safe on Linux, macOS and Windows, and no two alike.
struct SplitFileNames {
  private let suffix: String
  /// The names that are taken, in lower case: macOS and Windows tell no case apart.
  private var taken: Set<String> = []

  /// Bytes of a name before its number and its extension. File systems allow 255, of which hidden
  /// and journal files take some.
  private static let longest = 200

  /// - Parameter fileExtension: without the dot.
  init(fileExtension: String) { suffix = "." + fileExtension }

  /// The name of the file for the next value; `-2` and so on follow a name that is taken.
  mutating func name(for value: Value) -> String {
    let stem = Self.stem(of: value)
    var (name, number) = (stem, 1)
    while !taken.insert(name.lowercased()).inserted {
      number += 1
      name = "\(stem)-\(number)"
    }
    return name + suffix
  }

  private static func stem(of value: Value) -> String {
    let text = text(of: value)
    guard !text.isEmpty else { return "empty" }
    var safe = String(String.UnicodeScalarView(text.unicodeScalars.map { isSafe($0) ? $0 : "_" }))
    // A dot hides a file or leads to the folder around it; Windows drops dots and blanks at the end.
    if safe.hasPrefix(".") { safe.replaceSubrange(...safe.startIndex, with: "_") }
    safe = cut(safe)
    if let last = safe.last, last == "." || last == " " {
      safe = safe.dropLast() + "_"
    }
    return isReserved(safe) ? "_" + safe : safe
  }

  private static func text(of value: Value) -> String {
    switch value {
    case .null: "null"
    case .boolean(let flag): flag ? "true" : "false"
    case .real(let number): Int64(exactly: number)?.description ?? number.description
    case .blob(let bytes): String(hex: bytes.prefix(32))
    default: value.plainText
    }
  }

  private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "/", "\\", ":", "*", "?", "\"", "<", ">", "|": return false
    // These two join the parts of an emoji and of words.
    case "\u{200C}", "\u{200D}": return true
    default: break
    }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: return false
    // Tags at the end of the code space are parts of flags.
    case .format, .unassigned: return scalar.value >= 0xE0020 && scalar.value <= 0xE007F
    default: return true
    }
  }

  /// The first characters, as many as have room.
  private static func cut(_ text: String) -> String {
    guard text.utf8.count > longest else { return text }
    var (kept, count) = ("", 0)
    for character in text {
      count += character.utf8.count
      if count > longest { break }
      kept.append(character)
    }
    return kept.isEmpty ? "_" : kept
  }

  /// Whether Windows takes the name for a device, whatever follows a dot.
  private static func isReserved(_ name: String) -> Bool {
    let word = name.prefix { $0 != "." }.uppercased()
    if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(word) { return true }
    guard word.count == 4, word.hasPrefix("COM") || word.hasPrefix("LPT"), let last = word.last
    else { return false }
    return "0123456789¹²³".contains(last)
  }
}
