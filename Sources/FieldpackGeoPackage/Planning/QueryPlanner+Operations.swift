import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite
import FieldpackTopology

extension QueryPlanner {
  /// The query's filter for one layer. A clip area becomes a condition too, so that an index finds
  /// the features in it.
  func filter(_ table: LayerTable) -> Filter {
    guard let (area, system) = clipArea(table) else { return query.filter }
    return query.filter && .relation(.intersects, area, srs: system)
  }

  /// The area that clips the geometries of a layer, and its SRS; `nil` where nothing is clipped.
  private func clipArea(_ table: LayerTable) -> (Geometry, SRS?)? {
    guard let clip = query.operations.clip, let srs = table.schema.geometry?.srs else { return nil }
    let keepsSides = clip.srs == nil || clip.srs == srs || srs.isUndefined
    // In another SRS straight sides become curves, which more positions follow.
    switch clip.area {
    case .box(let box): return (box.polygon(pointsPerSide: keepsSides ? 1 : 21), clip.srs)
    case .polygons(let area): return (keepsSides ? area : area.withMorePositions(), clip.srs)
    }
  }

  /// - Throws: `.invalidArgument` where the geometry to cut to is no area, or not valid.
  private func checkClip(_ clip: GeometryOperations.Clip) throws(FieldpackError) {
    guard case .polygons(let area) = clip.area else { return }
    guard area.extent == 2, !area.isEmpty else {
      throw FieldpackError(
        .invalidArgument,
        "geometries are cut to polygons, and \(area.isEmpty ? "an empty geometry" : area.type.name) "
          + "is none")
    }
    do throws(TopologyError) {
      guard case .invalid(let reason, let place) = try area.validity() else { return }
      throw TopologyError(
        .invalidArgument, reason + (place.map { " at \($0.x) \($0.y)" } ?? ""))
    } catch {
      throw FieldpackError(
        .invalidArgument, "the area to cut to is not valid: \(error.message)")
    }
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
    if let (area, system) = clipArea(table) {
      if let clip = operations.clip { try checkClip(clip) }
      let project = LiteralProjection(file: file, catalogue: catalogue)
      steps.clip = try project.geometry(area, from: system, to: table)
    }
    guard let srs = schema.geometry?.srs else { return steps }
    steps.buffer = try operations.buffer.map { (buffer) throws(FieldpackError) in
      try self.buffer(buffer, of: table)
    }
    steps.tolerance = operations.tolerance.map { units($0, in: srs) }
    return steps
  }

  private func buffer(
    _ buffer: GeometryOperations.Buffer, of table: LayerTable
  ) throws(FieldpackError) -> LayerBuffer {
    let style = BufferStyle(
      quadrantSegments: buffer.quadrantSegments, join: buffer.isMitred ? .mitre : .round)
    let srs = table.schema.geometry?.srs ?? .undefinedCartesian
    guard srs != .undefinedCartesian else {
      return LayerBuffer(distance: buffer.metres, style: style)
    }
    let (system, reference) = try LiteralProjection(file: file, catalogue: catalogue)
      .system(of: table)
    if system.transformation == nil {
      return LayerBuffer(distance: buffer.metres, style: style, ellipsoid: system.ellipsoid)
    }
    if (try? file.systems.definition(of: srs))?.isGeographic == true {
      throw FieldpackError(
        .unsupported,
        "layer '\(table.layer.id)' is in \(reference.text), whose unit is not the degree, so it "
          + "cannot be buffered", location: .init(store: file.store, layer: table.layer.id))
    }
    return LayerBuffer(distance: units(buffer.metres, in: srs), style: style)
  }

  /// Metres in the units of an SRS.
  private func units(_ metres: Double, in srs: SRS) -> Double {
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
