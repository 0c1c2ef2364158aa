import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite

extension QueryPlanner {
  /// The query's filter as a layer is asked: one with geometry also for what lies in the clip box,
  /// which an index then finds.
  func filter(_ table: LayerTable) -> Filter {
    guard let (box, system) = clipBox(table) else { return query.filter }
    return query.filter && .relation(.intersects, box, srs: system)
  }

  /// The box that the geometries of a layer are cut to, and its SRS; `nil` where none are.
  private func clipBox(_ table: LayerTable) -> (Geometry, SRS?)? {
    guard let clip = query.operations.clip, let srs = table.schema.geometry?.srs else { return nil }
    let staysBox = clip.srs == nil || clip.srs == srs || srs.isUndefined
    return (clip.box.polygon(pointsPerSide: staysBox ? 1 : 21), clip.srs)
  }

  /// The geometry column to read, quoted: one that is in no answer can tell that nothing is left of
  /// it.
  func geometryRead(_ table: LayerTable, _ schema: Schema) -> String? {
    let column = query.operations.clip == nil ? schema.geometry : table.schema.geometry
    return column.map { quoted($0.name) }
  }

  /// What is done to the geometries of a layer; `nil` where nothing is.
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
    // Radians a unit; the semi-major axis of WGS 84 makes them metres along the equator.
    let metresPerUnit = definition.unitFactor * (definition.isGeographic ? 6_378_137 : 1)
    return metresPerUnit > 0 ? metres / metresPerUnit : metres
  }
}

extension Query {
  /// Whether rows that a statement gives may be passed over; what is looked for by distance has
  /// been read without errors.
  var mayPassOver: Bool { operations.clip != nil || skipsErrors && nearest == nil }
}

extension Envelope {
  /// The box as a polygon whose sides have so many pieces; two polygons across the antimeridian.
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
