import FieldpackGeometry

/// The rules that PostGIS has for the geometries of a client, and that a GeoPackage does not have
/// (`LW_PARSER_CHECK_ALL` in liblwgeom/lwin_wkb.c): lines have two positions, circular strings three and
/// an odd number, rings four, and rings are closed.
struct PostGISRules: WKBRunVisitor {
  /// What is wrong with the first part that breaks a rule.
  private(set) var problem: String?
  /// Whether there is no position.
  private(set) var isEmpty = true
  private var solids = 0

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    if type == .polyhedralSurface || type == .tin { solids += 1 }
    if type == .triangle, let count, count > 1 {
      note("a triangle has \(count) rings")
    }
  }

  mutating func positions(
    _ run: RawSpan, _ count: Int, _ header: WKB.Header, at offset: Int, isRing: Bool
  ) {
    if count > 0 { isEmpty = false }
    guard problem == nil else { return }
    if isRing {
      ring(run, count, header)
    } else if header.type == .lineString, count == 1 {
      note("a line has one position, and PostGIS takes no fewer than two")
    } else if header.type == .circularString, count > 0, count < 3 || count % 2 == 0 {
      note("a circular string has \(count) positions, and PostGIS takes odd numbers from three on")
    }
  }

  mutating func end(_ type: GeometryType) {
    if type == .polyhedralSurface || type == .tin { solids -= 1 }
  }

  private mutating func ring(_ run: RawSpan, _ count: Int, _ header: WKB.Header) {
    guard count > 0 else { return }
    guard count >= 4 else {
      note("a ring has \(count) positions, and PostGIS takes no fewer than four")
      return
    }
    let last = (count - 1) * 8 * header.dimensions.count
    // Faces of solids close in z, too.
    let compared = solids > 0 && header.dimensions.hasZ ? 3 : 2
    for ordinate in 0..<compared {
      let first = run.double(at: 8 * ordinate, header.byteOrder)
      if first != run.double(at: last + 8 * ordinate, header.byteOrder) {
        note("a ring is not closed")
        return
      }
    }
  }

  private mutating func note(_ text: String) {
    if problem == nil { problem = text }
  }
}
