/// Numbers without a sign in bytes; 0 where the bytes end before the number does.
extension [UInt8] {
  /// - Parameter count: how many bytes from `offset` on; the first counts least.
  func little(_ offset: Int, _ count: Int) -> Int {
    guard offset >= 0, offset + count <= self.count else { return 0 }
    return self[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// - Parameter count: how many bytes from `offset` on; the first counts most.
  func big(_ offset: Int, _ count: Int) -> Int {
    guard offset >= 0, offset + count <= self.count else { return 0 }
    return self[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
  }
}
