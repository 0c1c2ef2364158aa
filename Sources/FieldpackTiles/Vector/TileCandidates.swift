import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// The features that may be in a tile, by what an index tells of them: where their middles lie and how
/// large they are.
struct TileCandidates {
  /// The ids, or hashes of ids that are texts.
  private(set) var ids: [Int64] = []
  /// The middles, in the SRS of the layer until they are placed on the grid of the tile.
  var middles: [SIMD2<Double>] = []
  /// The longer side of each envelope, in units of the layer's SRS; 0 for a point.
  private(set) var sizes: [Float] = []

  var count: Int { ids.count }

  /// Adds the bounds of an R-tree's entry: minx, maxx, miny, maxy.
  @inline(__always)
  mutating func add(_ id: Int64, _ bounds: SIMD4<Float>) {
    let sides = SIMD2(bounds[1] - bounds[0], bounds[3] - bounds[2])
    // The middle halves what rounding outwards has moved the bounds.
    add(
      id,
      SIMD2(
        (Double(bounds[0]) + Double(bounds[1])) / 2, (Double(bounds[2]) + Double(bounds[3])) / 2),
      size: max(sides.x, sides.y),
      // The bounds of a point are up to two floats apart on each side.
      rounding: max(bounds[0].magnitude, bounds[1].magnitude, bounds[2].magnitude) * 0x1p-21)
  }

  mutating func add(_ id: Int64, _ envelope: Envelope) {
    add(
      id, SIMD2((envelope.minX + envelope.maxX) / 2, (envelope.minY + envelope.maxY) / 2),
      size: Float(max(envelope.width, envelope.height)),
      rounding: Float(max(abs(envelope.minX), abs(envelope.maxX), abs(envelope.minY))) * 0x1p-21)
  }

  @inline(__always)
  private mutating func add(
    _ id: Int64, _ middle: SIMD2<Double>, size: Float, rounding: Float
  ) {
    ids.append(id)
    middles.append(middle)
    sizes.append(size > rounding ? size : 0)
  }

  /// Leaves only those whose middle is in the box.
  mutating func keep(in box: TileBox) {
    var kept = 0
    for index in ids.indices where box.contains(middles[index]) {
      (ids[kept], middles[kept], sizes[kept]) = (ids[index], middles[index], sizes[index])
      kept += 1
    }
    ids.removeSubrange(kept...)
    middles.removeSubrange(kept...)
    sizes.removeSubrange(kept...)
  }

  /// The number that stands for an id.
  static func number(of id: FeatureID) -> Int64 {
    switch id {
    case .integer(let number): return number
    case .text(var text):
      return text.withUTF8 {
        Int64(bitPattern: ValueHash.bytes(.text, UnsafeRawBufferPointer($0)))
      }
    }
  }
}

/// Gathers the features of rows, for layers without an R-tree.
struct TileCandidateSink: FeatureSink {
  private(set) var candidates = TileCandidates()

  mutating func begin(_ schema: Schema) {}

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    let envelope =
      row.envelope ?? row.withGeometry { wkb in try? WKB.envelope(of: wkb) }.flatMap(\.self)
    guard let envelope else { return }
    candidates.add(TileCandidates.number(of: row.id), envelope)
  }
}
