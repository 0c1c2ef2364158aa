extension Sequence<UInt8> {
  /// The bytes in hexadecimal, two small digits each.
  public var hex: String {
    reduce(into: "") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) }
  }
}
