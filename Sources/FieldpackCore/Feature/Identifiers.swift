// Names and ids are compared byte by byte: two spellings of "é" are equal as `String`, but differ
// in SQLite. Equal bytes have equal `String` hashes, so `String`'s hash is used.

/// The id of a store, unique in a workspace; for a bare file its name without extension.
public struct StoreID: Hashable, Sendable, Codable, RawRepresentable, ExpressibleByStringLiteral,
  CustomStringConvertible, Comparable
{
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }
  public var description: String { rawValue }
  public static func == (a: StoreID, b: StoreID) -> Bool { a.rawValue.hasSameBytes(as: b.rawValue) }
  public static func < (a: StoreID, b: StoreID) -> Bool {
    a.rawValue.utf8.lexicographicallyPrecedes(b.rawValue.utf8)
  }
}

/// The id of a layer, unique in its store: its name.
public struct LayerID: Hashable, Sendable, RawRepresentable, ExpressibleByStringLiteral,
  CustomStringConvertible, Comparable
{
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }
  public var description: String { rawValue }
  public static func == (a: LayerID, b: LayerID) -> Bool { a.rawValue.hasSameBytes(as: b.rawValue) }
  public static func < (a: LayerID, b: LayerID) -> Bool {
    a.rawValue.utf8.lexicographicallyPrecedes(b.rawValue.utf8)
  }
}

/// The id of a feature, unique in its layer.
public enum FeatureID: Hashable, Sendable, CustomStringConvertible {
  case integer(Int64)
  case text(String)

  /// The id that `text` spells: an integer where it is one in shortest form, else the text itself.
  public init(_ text: String) {
    if let integer = Int64(text), String(integer) == text {
      self = .integer(integer)
    } else {
      self = .text(text)
    }
  }

  public var description: String {
    switch self {
    case .integer(let id): String(id)
    case .text(let id): id
    }
  }
}

extension FeatureID: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, Comparable {
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(stringLiteral value: String) { self = .text(value) }

  public static func == (a: FeatureID, b: FeatureID) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): a == b
    case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
    default: false
    }
  }

  /// Integers by value before texts by code point.
  public static func < (a: FeatureID, b: FeatureID) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): a < b
    case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
    case (.integer, .text): true
    case (.text, .integer): false
    }
  }
}

extension String {
  /// Whether both texts have the same code points; `==` also equates texts that are canonically
  /// equivalent.
  package func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    // Comparing the bytes is several times as fast as comparing `utf8Span`s.
    return utf8Span.span.bytes.withUnsafeBytes { left in
      other.utf8Span.span.bytes.withUnsafeBytes { right in
        left.elementsEqual(right)
      }
    }
  }

  /// The text with `a` to `z` in capitals and all else unchanged, as SQL compares names.
  var uppercasedASCII: String {
    String(
      decoding: utf8.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 - 32 : $0 },
      as: UTF8.self)
  }
}
