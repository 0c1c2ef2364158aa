import FieldpackCore

/// What the header of a file says of a column's values, as far as they keep to it.
struct FlatGeobufRules {
  private(set) var isNullable = true
  private(set) var isUnique = false
  /// Characters of a text.
  private(set) var maximumLength: Int?
  /// Hashes of the values of a unique column; where two are equal by chance, the rule gets lost.
  private var seen: Set<Int> = []
  /// The number of the last feature with a value.
  private var lastFeature = -1

  /// No rules, as for columns that only features state.
  init() {}

  init(_ column: FlatGeobufHeader.Column) {
    isNullable = column.isNullable
    // Other values are stored in another form, in which two may be equal.
    isUnique = column.isUnique && (column.kind.isInteger || column.kind == .string)
    maximumLength = column.maximumLength
  }

  var isEmpty: Bool { isNullable && !isUnique && maximumLength == nil }

  /// Takes a value as it lies in the file, a text with its length before it.
  mutating func take(
    _ bytes: UnsafeRawBufferPointer, _ kind: FlatGeobufHeader.Kind, feature: Int
  ) {
    // Not a number is NULL.
    if kind == .double, bytes.double(0).isNaN { return }
    if kind == .float, Float(bitPattern: bytes.little(0, as: UInt32.self)).isNaN { return }
    lastFeature = feature
    if isUnique {
      var hasher = Hasher()
      hasher.combine(bytes: bytes)
      isUnique = seen.insert(hasher.finalize()).inserted
    }
    guard let most = maximumLength, bytes.count - 4 > most else { return }
    // Bytes that begin a character of UTF-8.
    let length = bytes.dropFirst(4).reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
    if length > most { maximumLength = nil }
  }

  /// Ends a feature, which may have had no value.
  mutating func end(feature: Int) {
    if lastFeature != feature { isNullable = true }
  }

  /// Whether the values have broken what `column` says.
  func isWider(than column: ColumnDefinition) -> Bool {
    if isNullable && !column.isNullable || !isUnique && column.isUnique { return true }
    guard maximumLength == nil, case .text(.some) = column.type else { return false }
    return true
  }
}
