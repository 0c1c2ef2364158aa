import FieldpackCore

extension Int {
  /// `1 sample`, `2 samples`.
  func counting(_ noun: String, _ plural: String? = nil) -> String {
    "\(self) " + (self == 1 ? noun : plural ?? noun + "s")
  }
}

/// Lengths as people read them.
enum Metres {
  /// With one digit after the point.
  static func text(_ metres: Double) -> String {
    metres.isFinite ? Decimals.text(metres, digits: 1) + " m" : ""
  }
}
