import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite

extension QueryPlanner {
  /// The query's filter for one layer. A clip box becomes a condition too, so that an index finds
  /// the features in it.
  func filter(_ table: LayerTable) -> Filter {
    guard let (box, system) = clipBox(table) else { return query.filter }
    return query.filter && .relation(.intersects, box, srs: system)
  }

  /// The box that clips the geometries of a layer, and its SRS; `nil` where nothing is clipped.
  private func clipBox(_ table: LayerTable) -> (Geometry, SRS?)? {
    guard let clip = query.operations.clip, let srs = table.schema.geometry?.srs else { return nil }
    let staysBox = clip.srs == nil || clip.srs == srs || srs.isUndefined
    return (clip.box.polygon(pointsPerSide: staysBox ? 1 : 21), clip.srs)
  }

  /// The geometry column to read, quoted. Clipping reads the geometry even where the answer leaves
  /// it out, because a feature with nothing left is dropped.
  func geometryRead(_ table: LayerTable, _ schema: Schema) -> String? {
    let column = query.operations.clip == nil ? schema.geometry : table.schema.geometry
    return column.map { quoted($0.name) }
  }

  /// The operations on the geometries of a layer; `nil` where there are none.
  func steps(
    _ table: LayerTable, _ schema: Schema
  ) throws(FieldpackError) -> GeometrySteps? {
    let operations = query.operations
    guard !operations.isEmpty, geometryRead(table, schema) != nil else { return nil }
    var steps = GeometrySteps(operations: operations)
    if let (box, system) = clipBox(table) {
      let project = LiteralProjection(file: file, catalogue: catalogue)
      steps.clip = try project.geometry(box, from: system, to: table)
    }
    guard let srs = schema.geometry?.srs else { return steps }
    steps.tolerance = try operations.tolerance.map { (metres) throws(FieldpackError) in
      try tolerance(metres, in: srs, of: table)
    }
    return steps
  }

  private func tolerance(
    _ metres: Double, in srs: SRS, of table: LayerTable
  ) throws(FieldpackError) -> Double {
    guard !srs.isUndefined, let definition = try? file.systems.definition(of: srs) else {
      return metres
    }
    // A geographic `unitFactor` is radians per unit. Times WGS 84's semi-major axis it is metres
    // along the equator.
    let metresPerUnit = definition.unitFactor * (definition.isGeographic ? 6_378_137 : 1)
    return metresPerUnit > 0 ? metres / metresPerUnit : metres
  }
}

extension Query {
  /// Whether some rows of a statement may be skipped. A nearest search has already read its rows
  /// without errors.
  var mayPassOver: Bool { operations.clip != nil || skipsErrors && nearest == nil }
}

extension Envelope {
  /// The box as a polygon with `count` pieces per side; two polygons where it crosses the
  /// antimeridian.
  fileprivate func polygon(pointsPerSide count: Int) -> Geometry {
    let rings = splitAtAntimeridian.map { $0.ring(count) }
    return rings.count == 1 ? .polygon(rings, .xy) : .multiPolygon(rings.map { [$0] }, .xy)
  }

  private func ring(_ count: Int) -> CoordinateSequence {
    let corners = [(minX, minY), (maxX, minY), (maxX, maxY), (minX, maxY), (minX, minY)]
    var ring = CoordinateSequence(dimensions: .xy)
    for (from, to) in zip(corners, corners.dropFirst()) {
      for step in 0..<count {
        let share = Double(step) / Double(count)
        ring.append(
          Position(
            x: from.0 + (to.0 - from.0) * share, y: from.1 + (to.1 - from.1) * share))
      }
    }
    ring.append(Position(x: minX, y: minY))
    return ring
  }
}
