public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage
public import FieldpackGeometry

/// The captures of a GeoPackage.
///
///     let captures = CaptureCatalogue(store)
///     let seen = try await captures.list(CaptureSelection(day: CalendarDate("2012-08-07")))
public struct CaptureCatalogue: Sendable {
  public let store: GeoPackageStore

  public init(_ store: GeoPackageStore) { self.store = store }

  // MARK: Finding

  /// The selected captures, the newest first; none where the file has no layer of captures.
  public func list(
    _ selection: CaptureSelection = .init()
  ) async throws(FieldpackError) -> [Capture] {
    guard try await hasCaptures() else { return [] }
    let id = store.id
    return try await store.read { (snapshot) throws(FieldpackError) in
      try snapshot.features(selection.query).compactMap { Capture($0, of: id) }
    }
  }

  /// A part of all captures, the newest first, and how many there are.
  package func page(
    limit: Int, offset: Int
  ) async throws(FieldpackError) -> (captures: [Capture], total: Int) {
    guard try await hasCaptures() else { return ([], 0) }
    let id = store.id
    return try await store.read { (snapshot) throws(FieldpackError) in
      let query = CaptureSelection().query.limit(limit, offset: offset)
      return (
        try snapshot.features(query).compactMap { Capture($0, of: id) },
        try snapshot.count(Query(CaptureLayers.capture))
      )
    }
  }

  /// The capture of a token, or of a key tuple's text.
  ///
  /// - Throws: `.notFound`.
  public func capture(_ name: String) async throws(FieldpackError) -> Capture {
    if try await hasCaptures() {
      let byToken = Query(
        CaptureLayers.capture, where: Column<String>("token") == name)
      let id = store.id
      let found = try await store.read { (snapshot) throws(FieldpackError) in
        if let row = try snapshot.features(byToken).first { return Capture(row, of: id) }
        guard let key = KeyTuple(name), key.store == id, key.layer == CaptureLayers.capture,
          let row = try snapshot.feature(key.feature, in: key.layer)
        else { return nil }
        return Capture(row, of: id)
      }
      if let found { return found }
    }
    throw FieldpackError(
      .notFound, "there is no capture '\(name)' in \(store.shownPath)",
      advice: .listCaptures(file: store.shownPath),
      location: .init(store: store.id, layer: CaptureLayers.capture))
  }

  private func hasCaptures() async throws(FieldpackError) -> Bool {
    CaptureLayers.relation(try await store.relations()) != nil
  }

  // MARK: Details

  /// The points of a capture, and what else its geo-data has.
  public func geodata(of capture: Capture) async throws(FieldpackError) -> CaptureGeodata {
    let key = capture.key.feature
    let query = try Self.points(of: capture).order(by: [Order("seq")])
    return try await store.read { (snapshot) throws(FieldpackError) in
      var geodata = CaptureGeodata(
        points: try snapshot.features(query).compactMap(CapturePoint.init))
      geodata.extraJSON = try snapshot.feature(key, in: CaptureLayers.capture)?[
        Column<String>("geodata_extra_json")]
      return geodata
    }
  }

  /// The last point up to a time of playback; `nil` before the first point.
  ///
  /// - Parameter time: in seconds since the media began.
  public func point(
    of capture: Capture, at time: Double
  ) async throws(FieldpackError) -> CapturePoint? {
    let query = try Self.points(of: capture, and: Column<Double>("t_s") <= time)
      .order(by: [Order("t_s", descending: true), Order("seq", descending: true)]).limit(1)
    return try await store.read { (snapshot) throws(FieldpackError) in
      try snapshot.features(query).first.flatMap(CapturePoint.init)
    }
  }

  private static func points(
    of capture: Capture, and filter: Filter = .all
  ) throws(FieldpackError) -> Query {
    guard case .integer(let id) = capture.key.feature else {
      throw FieldpackError(.notFound, "the ids of captures are integers")
    }
    return Query(CaptureLayers.point, where: Column<Int64>("capture_fid") == id && filter)
  }

  /// The lines of those captures that have two points or more, with their seconds as m.
  public func lines(of captures: [Capture]) async throws(FieldpackError) -> [Geometry] {
    let ids = Set(captures.map(\.key.feature))
    guard !ids.isEmpty else { return [] }
    return try await store.read { (snapshot) throws(FieldpackError) in
      try snapshot.features(Query(CaptureLayers.track).select(["capture_fid"])).compactMap { row in
        guard let id = row[Column<Int64>("capture_fid")], ids.contains(.integer(id)) else {
          return nil
        }
        return row.geometry
      }
    }
  }

  /// The names of the files that captures lack, by their key tuples.
  public func missingFiles(
    of captures: [Capture]
  ) async throws(FieldpackError) -> [KeyTuple: [String]] {
    try await store.read { (snapshot) throws(FieldpackError) in
      var missing: [KeyTuple: [String]] = [:]
      for capture in captures {
        let roles = Set(try snapshot.files(of: capture.key.feature).map(\.role))
        var names: [String] = []
        if !roles.contains(.media) { names.append(capture.info.mediaFile) }
        if !roles.contains(.thumbnail) { names.append(capture.info.thumbnailFile) }
        if !names.isEmpty { missing[capture.key] = names }
      }
      return missing
    }
  }

  // MARK: Changes

  public func setTitle(
    _ title: String, of capture: Capture
  ) async throws(FieldpackError) {
    let id = capture.key.feature
    try await store.write { (writer) throws(FieldpackError) in
      try writer.update(id, in: CaptureLayers.capture, set: ["title": .text(title)])
    }
  }

  /// Deletes captures with their points, lines, jobs, and the files that nothing else has: all of them,
  /// or none.
  @discardableResult
  public func delete(_ captures: [Capture]) async throws(FieldpackError) -> DeletedFeatures {
    try await store.write { (writer) throws(FieldpackError) in
      var deleted = DeletedFeatures()
      guard let relation = CaptureLayers.relation(try writer.relations()) else { return deleted }
      try CaptureLayers.layers.migrate(in: writer)
      let rows = CaptureRows(relation: relation)
      for capture in captures { try rows.delete(capture, writer, &deleted) }
      return deleted
    }
  }
}

extension Capture {
  /// A row of the layer `capture`.
  init?(_ row: Feature, of store: StoreID) {
    guard let id = row.id, let info = CaptureInfo(row) else { return nil }
    self.init(
      key: KeyTuple(store: store, layer: CaptureLayers.capture, feature: id), info: info)
  }
}
