import FieldpackGeometry

/// Counts the geometries of one column.
struct GeometryTally {
  private var nullCount = 0
  private var emptyCount = 0
  private var damagedCount = 0
  private var types: [GeometryType: Int] = [:]
  /// Points have a count of their own because they are read without a visitor.
  private var pointCount = 0
  private var envelope = Envelope.empty

  mutating func add(_ row: borrowing some FeatureRow & ~Copyable) {
    // The row's envelope is of use where it saves a walk through many positions, so not for points.
    let found = row.withGeometry { wkb in
      Self.plainPoint(wkb).map { Found.point($0.x, $0.y) } ?? .other
    }
    switch found {
    case nil: nullCount += 1
    case .point(let x, let y): addPoint(x, y)
    case .other: addOther(row)
    }
  }

  private enum Found {
    case point(Double, Double)
    case other
  }

  mutating func merge(_ other: GeometryTally) {
    nullCount += other.nullCount
    emptyCount += other.emptyCount
    damagedCount += other.damagedCount
    pointCount += other.pointCount
    types.merge(other.types) { $0 + $1 }
    if !other.envelope.isEmpty { envelope.formUnion(other.envelope) }
  }

  func statistics(of column: String) -> GeometryStatistics {
    var all = types
    if pointCount > 0 { all[.point, default: 0] += pointCount }
    return GeometryStatistics(
      column: column, nullCount: nullCount, emptyCount: emptyCount, damagedCount: damagedCount,
      types: all, envelope: envelope.isEmpty ? nil : envelope)
  }

  private mutating func addPoint(_ x: Double, _ y: Double) {
    pointCount += 1
    if x.isNaN || y.isNaN {
      emptyCount += 1
    } else {
      envelope.extend(x: x, y: y)
    }
  }

  private mutating func addOther(_ row: borrowing some FeatureRow & ~Copyable) {
    var known = row.envelope
    let type = row.withGeometry { wkb -> GeometryType? in
      do throws(GeometryError) {
        let type = try WKB.header(of: wkb).type
        if known == nil { known = try WKB.envelope(of: wkb, allowsTrailingBytes: true) }
        return type
      } catch {
        return nil
      }
    }
    guard let type = type ?? nil else {
      damagedCount += 1
      return
    }
    types[type, default: 0] += 1
    if let known, !known.isEmpty {
      envelope.formUnion(known)
    } else {
      emptyCount += 1
    }
  }

  /// The position of a little-endian point without z and m.
  private static func plainPoint(_ wkb: RawSpan) -> (x: Double, y: Double)? {
    guard wkb.byteCount == 21 else { return nil }
    return wkb.withUnsafeBytes { bytes in
      guard bytes[0] == 1,
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self)) == 1
      else { return nil }
      func double(_ offset: Int) -> Double {
        let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        return Double(bitPattern: UInt64(littleEndian: word))
      }
      return (double(5), double(13))
    }
  }
}
