import FieldpackCore

/// Lengths as people read them.
enum Metres {
  /// With one digit after the point.
  static func text(_ metres: Double) -> String {
    metres.isFinite ? Decimals.text(metres, digits: 1) + " m" : ""
  }
}
