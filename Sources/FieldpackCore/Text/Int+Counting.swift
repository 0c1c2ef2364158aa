extension Int {
  /// `1 sample`, `2 samples`.
  package func counting(_ noun: String, _ plural: String? = nil) -> String {
    "\(self) " + (self == 1 ? noun : plural ?? noun + "s")
  }
}
