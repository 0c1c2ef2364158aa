import FieldpackCore
import FieldpackGeometry

extension GeometryColumn {
  /// Appends a row's geometry, where the column holds it, and as a collection where the column is
  /// one of the geometry's collections.
  func append(
    _ wkb: [UInt8], _ type: GeometryType, _ dimensions: Dimensions, isEmpty: Bool,
    to bytes: inout [UInt8]
  ) {
    guard !wkb.isEmpty, Self.holds(z, dimensions.hasZ), Self.holds(m, dimensions.hasM) else {
      return
    }
    if self.type == type || self.type.accepts(type) {
      bytes.append(contentsOf: wkb)
    } else if type.multi == self.type {
      promote(wkb, dimensions, isEmpty: isEmpty, into: &bytes)
    }
  }

  private static func holds(_ rule: OrdinateRule, _ hasOrdinate: Bool) -> Bool {
    switch rule {
    case .prohibited: !hasOrdinate
    case .mandatory: hasOrdinate
    case .optional: true
    }
  }

  /// The single geometry becomes the one member; EMPTY becomes a collection without members.
  private func promote(
    _ wkb: [UInt8], _ dimensions: Dimensions, isEmpty: Bool, into bytes: inout [UInt8]
  ) {
    let code = type.rawValue + 1000 * UInt32(dimensions.rawValue)
    let count: UInt32 = isEmpty ? 0 : 1
    bytes.append(1)
    withUnsafeBytes(of: code.littleEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: count.littleEndian) { bytes.append(contentsOf: $0) }
    if count > 0 { bytes.append(contentsOf: wkb) }
  }
}
