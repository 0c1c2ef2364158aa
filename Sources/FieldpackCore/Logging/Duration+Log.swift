extension Duration {
  /// Milliseconds to the microsecond, as logs give them.
  public var milliseconds: Double {
    let (seconds, attoseconds) = components
    return (Double(seconds) * 1e6 + Double(attoseconds / 1_000_000_000_000)).rounded() / 1e3
  }
}
