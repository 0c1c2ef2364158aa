extension Duration {
  /// The duration in milliseconds, to the microsecond, as logs give it.
  public var milliseconds: Double {
    let (seconds, attoseconds) = components
    return (Double(seconds) * 1e6 + Double(attoseconds / 1_000_000_000_000)).rounded() / 1e3
  }
}
