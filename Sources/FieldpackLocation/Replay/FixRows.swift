import FieldpackCore
import FieldpackField
import FieldpackGeometry

/// How the rows of a layer become fixes.
struct FixRows: Sendable {
  private let store: StoreID
  private let layer: LayerID
  private let schema: Schema
  private let device: String
  private let order: String?
  /// Whose tracks those are that the points of a recording name.
  var devices: [FeatureID: String] = [:]
  /// Indexes among the columns that are asked for.
  private var columns: [Member: Int] = [:]

  private enum Member: CaseIterable {
    case time, device, track, accuracy, elevation, course, speed

    var names: [String] {
      switch self {
      case .time: ["time", "timestamp", "time_unix"]
      case .device: ["device", "device_id"]
      case .track: []
      case .accuracy: ["accuracy", "accuracy_m", "fxa"]
      case .elevation: ["ele", "ele_m", "elevation", "altitude"]
      case .course: ["course", "course_deg"]
      case .speed: ["speed", "speed_mps", "speed_m_s"]
      }
    }

    func chosen(_ columns: ReplaySource.Columns) -> String? {
      switch self {
      case .time: columns.time
      case .device: columns.device
      case .track: nil
      case .accuracy: columns.accuracy
      case .elevation: columns.elevation
      case .course: columns.course
      case .speed: columns.speed
      }
    }
  }

  /// - Throws: `.notFound` for a chosen column that is not there, `.invalidArgument` for a layer that
  ///   is not of points.
  init(
    _ schema: Schema, of store: StoreID, _ options: ReplaySource.Options
  ) throws(FieldpackError) {
    self.store = store
    layer = schema.layer
    device = options.device
    guard let geometry = schema.geometry, [.point, .geometry].contains(geometry.type) else {
      throw FieldpackError(
        .invalidArgument,
        "layer '\(schema.layer)' is not of points, which fixes are made of. Try: its points, in GPX "
          + "'track_points'", location: .init(store: store, layer: schema.layer))
    }
    var wanted: [ColumnDefinition] = []
    for member in Member.allCases {
      guard let index = try Self.column(member, in: schema, options) else { continue }
      columns[member] = wanted.count
      wanted.append(schema.columns[index])
    }
    if columns[.device] == nil, schema.layer == FieldData.trackPoint,
      let index = schema.columnIndex("track_fid")
    {
      columns[.track] = wanted.count
      wanted.append(schema.columns[index])
    }
    order = columns[.time].map { wanted[$0].name }
    self.schema = Schema(layer: schema.layer, geometry: geometry, columns: wanted)
  }

  private static func column(
    _ member: Member, in schema: Schema, _ options: ReplaySource.Options
  ) throws(FieldpackError) -> Int? {
    if let name = member.chosen(options.columns) {
      if let index = schema.columnIndex(name) { return index }
      throw FieldpackError(
        .notFound, "layer '\(schema.layer)' has no column '\(name)'",
        location: .init(layer: schema.layer))
    }
    for name in member.names {
      let found = schema.columns.firstIndex { $0.name.lowercased() == name }
      if let found { return found }
    }
    return nil
  }

  /// Whether the fixes are of the devices of their tracks.
  var needsDevices: Bool { columns[.track] != nil }

  var hasTimes: Bool { order != nil }

  var query: Query {
    var query = Query(layers: [layer]).select(schema.columns.map(\.name)).in(stores: [store])
    if let order { query = query.order(by: [Order(order)]) }
    if let srs = schema.geometry?.srs, srs != .wgs84, !srs.isUndefined {
      query = query.transformed(to: .wgs84)
    }
    return query
  }

  /// - Throws: `.invalidData` with the feature's key.
  func fix(_ row: FeatureBatch.Row) throws(FieldpackError) -> Fix {
    let key = KeyTuple(store: store, layer: layer, feature: row.id)
    guard case .point(let position?, _)? = try row.geometry(key: key) else {
      throw failure("the feature has no position", key)
    }
    var fix = Fix(longitude: position.x, latitude: position.y, device: device)
    guard fix.isOnEarth else {
      throw failure("the position \(position.x) \(position.y) is not on Earth", key)
    }
    fix.elevation = number(.elevation, row) ?? position.z
    fix.time = try time(row, key)
    fix.accuracy = number(.accuracy, row).flatMap { $0 < 0 ? nil : $0 }
    fix.course = number(.course, row).flatMap { 0..<360 ~= $0 ? $0 : $0 == 360 ? 0 : nil }
    fix.speed = number(.speed, row).flatMap { $0 < 0 ? nil : $0 }
    if let column = columns[.device], row.kind(at: column) != .null {
      fix.device = Self.text(row, column)
    } else if let column = columns[.track], row.kind(at: column) == .integer {
      fix.device = devices[.integer(row.integer(at: column))] ?? device
    }
    return fix
  }

  private func number(_ member: Member, _ row: FeatureBatch.Row) -> Double? {
    guard let column = columns[member] else { return nil }
    let value: Double? =
      switch row.kind(at: column) {
      case .integer: Double(row.integer(at: column))
      case .real: row.real(at: column)
      case .text: Double(row.text(at: column))
      default: nil
      }
    return value.flatMap { $0.isFinite ? $0 : nil }
  }

  private static func text(_ row: FeatureBatch.Row, _ column: Int) -> String {
    switch row.kind(at: column) {
    case .integer: "\(row.integer(at: column))"
    case .real: "\(row.real(at: column))"
    default: row.text(at: column)
    }
  }

  private func time(
    _ row: FeatureBatch.Row, _ key: KeyTuple
  ) throws(FieldpackError) -> Instant? {
    guard let column = columns[.time], row.kind(at: column) != .null else { return nil }
    if row.kind(at: column) == .text {
      let text = row.text(at: column)
      if let instant = Instant(text) { return instant }
      throw failure("'\(text.prefix(40))' is not a time like 2024-05-01T10:00:00Z", key)
    }
    guard let instant = number(.time, row).flatMap(Instant.init(unixSeconds:)) else {
      throw failure("its time is not in Unix seconds", key)
    }
    return instant
  }

  private func failure(_ message: String, _ key: KeyTuple) -> FieldpackError {
    FieldpackError(
      .invalidData, message,
      location: .init(store: key.store, layer: key.layer, feature: key.feature))
  }
}
