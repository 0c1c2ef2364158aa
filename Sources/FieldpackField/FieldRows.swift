package import FieldpackCore
package import FieldpackGeometry
package import FieldpackSQLite

extension FeatureID {
  /// The id in a column for integers and one for texts.
  package init?(_ integer: SQLiteValue, _ text: SQLiteValue) {
    switch (integer, text) {
    case (.integer(let number), _): self = .integer(number)
    case (_, .text(let text)): self = .text(text)
    default: return nil
    }
  }
}

extension SQLiteValue {
  package var int: Int? { if case .integer(let number) = self { Int(number) } else { nil } }
  package var instant: Instant? { int.map { Instant(milliseconds: Int64($0)) } }
  package var string: String? { if case .text(let text) = self { text } else { nil } }

  package var double: Double? {
    switch self {
    case .real(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }
}

extension Envelope {
  package init(of position: Position) {
    self.init(minX: position.x, minY: position.y, maxX: position.x, maxY: position.y)
  }
}

extension Instant {
  /// Seconds since 1970, with the milliseconds.
  package var unixSeconds: Double { Double(milliseconds) / 1000 }
}
