/// What the field `Range` asks for of a representation (RFC 9110, 14.2).
enum ByteRange: Hashable {
  case whole
  case part(Range<Int>)
  case unsatisfiable

  /// - Parameter length: of the representation, in bytes.
  ///
  /// Several ranges, and what is no range of bytes, give the whole, as the standard allows; more than
  /// sixteen are refused.
  init(_ field: String?, length: Int) {
    self = .whole
    guard let field, field.lowercased().hasPrefix("bytes=") else { return }
    let ranges = field.dropFirst(6).split(separator: ",", omittingEmptySubsequences: false)
    guard ranges.count <= 16 else {
      self = .unsatisfiable
      return
    }
    guard ranges.count == 1 else { return }
    let sides = ranges[0].split(
      separator: "-", maxSplits: 1, omittingEmptySubsequences: false
    ).map { Self.number($0) }
    guard sides.count == 2 else { return }
    switch (sides[0], sides[1]) {
    case (.number(let first), .number(let last)):
      guard first <= last else { return }
      self = first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
    case (.number(let first), .empty):
      self = first < length ? .part(first..<length) : .unsatisfiable
    case (.empty, .number(let count)):
      self = count > 0 && length > 0 ? .part(max(0, length - count)..<length) : .unsatisfiable
    default: break
    }
  }

  private enum Side {
    case number(Int)
    case empty, other
  }

  /// A number that is too large for a file is as good as the largest.
  private static func number(_ text: Substring) -> Side {
    let text = text.drop { $0 == " " || $0 == "\t" }
    guard !text.isEmpty else { return .empty }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return .other }
    return .number(min(Int(text) ?? .max, .max - 1))
  }
}
