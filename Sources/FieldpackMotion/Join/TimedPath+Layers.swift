public import FieldpackCore
import FieldpackGeometry
import FieldpackLocation

extension TimedPath {
  /// Reads a path from a layer of any store.
  ///
  /// A layer of points gives a leg for each device, of the points with a time; see `ReplaySource`.
  /// A layer of lines whose M is Unix seconds, as in imported GPX tracks, gives a leg for each
  /// line. `capture_point` and `capture_track` give the paths of captures. Positions are brought to
  /// WGS 84.
  /// - Parameter layer: `nil` for `track_points`, `track_point`, the only layer of points, captures,
  ///   else the only one of lines with M.
  /// - Throws: `.notFound` for a layer that is not there; `.invalidArgument` for one without times.
  public init(
    _ store: any Store, layer: LayerID? = nil
  ) async throws(FieldpackError) {
    let schemas = try await store.schemas()
    let schema: Schema
    if let layer {
      guard let found = schemas.first(where: { $0.layer == layer }) else {
        let names = schemas.map { "\($0.layer)" }.joined(separator: ", ")
        throw FieldpackError(
          .notFound, "layer '\(layer)' is not in store '\(store.id)' (it has: \(names))",
          location: .init(store: store.id))
      }
      schema = found
    } else {
      schema = try await Self.schema(of: store, among: schemas)
    }
    if [CaptureLayer.point, CaptureLayer.track].contains(schema.layer),
      schemas.contains(where: { $0.layer == CaptureLayer.capture })
    {
      try await self.init(capturesOf: store)
      return
    }
    if Self.isTimedLine(schema) {
      self = try await Self.lines(of: schema, in: store)
    } else {
      self = try await Self.points(of: schema, in: store)
    }
    guard !legs.isEmpty else {
      throw FieldpackError(
        .invalidArgument,
        "layer '\(schema.layer)' has no positions with a time. Try: another layer",
        location: .init(store: store.id, layer: schema.layer))
    }
  }

  private static func isTimedLine(_ schema: Schema) -> Bool {
    guard let geometry = schema.geometry, geometry.m != .prohibited else { return false }
    return [.lineString, .multiLineString].contains(geometry.type)
  }

  private static func schema(
    of store: any Store, among schemas: [Schema]
  ) async throws(FieldpackError) -> Schema {
    let lines = schemas.filter(isTimedLine)
    if lines.count == 1, !schemas.contains(where: { $0.geometry?.type == .point }) {
      return lines[0]
    }
    let layer: LayerID
    do throws(FieldpackError) {
      layer = try await ReplaySource.layer(of: store)
    } catch {
      guard let captures = schemas.first(where: { $0.layer == CaptureLayer.point }) else {
        throw error
      }
      return captures
    }
    return schemas.first { $0.layer == layer } ?? Schema(layer: layer)
  }

  private static func points(
    of schema: Schema, in store: any Store
  ) async throws(FieldpackError) -> TimedPath {
    var fixes: [Fix] = []
    for try await updates in ReplaySource(store, layer: schema.layer).updates() {
      for case .fix(let fix) in updates { fixes.append(fix) }
    }
    return TimedPath(fixes: fixes)
  }

  private static func lines(
    of schema: Schema, in store: any Store
  ) async throws(FieldpackError) -> TimedPath {
    var query = Query(layers: [schema.layer]).in(stores: [store.id])
    if let srs = schema.geometry?.srs, srs != .wgs84, !srs.isUndefined {
      query = query.transformed(to: .wgs84)
    }
    var legs: [[Point]] = []
    for try await feature in try await store.query(query).features {
      switch feature.geometry {
      case .lineString(let line): legs.append(points(line))
      case .multiLineString(let lines, _): legs += lines.map(points)
      default: continue
      }
    }
    return TimedPath(legs: legs)
  }

  private static func points(_ line: CoordinateSequence) -> [Point] {
    line.compactMap { position in position.m.map { Point(time: $0, position: position) } }
  }
}
