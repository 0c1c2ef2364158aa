/// A qualified name, lent by the parser.
///
/// Equal parts have equal pointers for as long as the parser lives, so that handlers may compare
/// and cache pointers.
package struct XMLName {
  package let local: UnsafePointer<UInt8>
  package let prefix: UnsafePointer<UInt8>?
  package let uri: UnsafePointer<UInt8>?
}

/// The attributes of a start tag, lent for the length of the call.
package struct XMLAttributes {
  // Five pointers an attribute: local name, prefix, URI, value, end of the value.
  private let base: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
  package let count: Int

  init(_ base: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int) {
    self.base = base
    self.count = base == nil ? 0 : count
  }

  /// The name of the attribute at `index`; `nil` for a slot that the parser left empty.
  package func name(_ index: Int) -> XMLName? {
    guard let base, let local = base[index * 5] else { return nil }
    return XMLName(local: local, prefix: base[index * 5 + 1], uri: base[index * 5 + 2])
  }

  /// The value with its references resolved.
  package func value(_ index: Int) -> UnsafeBufferPointer<UInt8> {
    guard let base, let start = base[index * 5 + 3], let end = base[index * 5 + 4], end >= start
    else { return UnsafeBufferPointer(start: nil, count: 0) }
    return UnsafeBufferPointer(start: start, count: end - start)
  }
}

/// The namespaces that a start tag declares, lent for the length of the call.
package struct XMLNamespaces {
  private let base: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
  package let count: Int

  init(_ base: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, count: Int) {
    self.base = base
    self.count = base == nil ? 0 : count
  }

  /// `nil` is the default namespace.
  package func prefix(_ index: Int) -> UnsafePointer<UInt8>? { base?[index * 2] }
  /// `nil` takes the default namespace back.
  package func uri(_ index: Int) -> UnsafePointer<UInt8>? { base?[index * 2 + 1] }
}

extension UnsafePointer<UInt8> {
  /// The bytes up to the NUL that ends them.
  var bytes: UnsafeBufferPointer<UInt8> {
    var count = 0
    while self[count] != 0 { count += 1 }
    return UnsafeBufferPointer(start: self, count: count)
  }

  @inline(__always)
  func equals(_ text: StaticString) -> Bool {
    for index in 0..<text.utf8CodeUnitCount where self[index] != text.utf8Start[index] {
      return false
    }
    return self[text.utf8CodeUnitCount] == 0
  }
}
