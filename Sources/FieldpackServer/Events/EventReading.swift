import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackMonitoring
import FieldpackSQLite

/// Reads events from one state of the file.
struct EventReading {
  let file: GeoPackageSnapshot
  let store: StoreID

  /// A change log of a layer, by its name in ids.
  private struct Named {
    let name: String
    let log: EditLog
    let schema: Schema
  }

  private func logs() throws(FieldpackError) -> [Named] {
    var named: [Named] = []
    for log in try file.editLogs() {
      // Tables of links are no layers.
      guard let schema = try file.schema(of: log.layer) else { continue }
      named.append(
        Named(
          name: EventPlace.name(of: log.layer, log.origin), log: log, schema: schema.inDegrees))
    }
    return named
  }

  // MARK: Places

  /// The place behind all that has happened.
  func end() throws(FieldpackError) -> EventPlace {
    var place = EventPlace()
    for named in try logs() { place.logs[named.name] = try named.log.head() }
    place.detection = try lastDetection()
    return place
  }

  /// The place before the first event of that time or later.
  func place(since time: Instant) throws(FieldpackError) -> EventPlace {
    var place = EventPlace()
    var selection = EditLog.Selection()
    selection.since = time
    for named in try logs() {
      let first = try named.log.edits(selection, after: 0, limit: 1).first
      if let first {
        place.logs[named.name] = first.number - 1
      } else {
        place.logs[named.name] = try named.log.head()
      }
    }
    place.detection = try lastDetection()
    guard try file.hasTable(FieldData.detection.rawValue) else { return place }
    let first = try file.rows(
      "SELECT min(fid) FROM detection WHERE time_unix >= ?", [.real(time.unixSeconds)])
    if let number = first.first?.first?.integerValue { place.detection = number - 1 }
    return place
  }

  private func lastDetection() throws(FieldpackError) -> Int64 {
    guard try file.hasTable(FieldData.detection.rawValue) else { return 0 }
    return try file.rows("SELECT max(fid) FROM detection").first?.first?.integerValue ?? 0
  }

  // MARK: Events that are told again

  /// What happened behind `place`, which moves behind it.
  ///
  /// - Parameters:
  ///   - end: where to stop; `nil` for the end.
  ///   - limit: how many edits and detections are read at most.
  func events(
    after place: inout EventPlace, upTo end: EventPlace?, limit: Int
  ) throws(FieldpackError) -> [LiveEvent] {
    var events: [LiveEvent] = []
    var left = limit
    for named in try logs() where left > 0 {
      let last = end.map { $0.logs[named.name] ?? 0 } ?? .max
      let before = place.logs[named.name] ?? 0
      guard before < last else { continue }
      for edit in try named.log.edits(after: before, limit: left) {
        guard edit.number <= last else { break }
        place.logs[named.name] = edit.number
        left -= 1
        if let event = try event(of: edit, named, place) { events.append(event) }
      }
    }
    if left > 0 { events += try detections(after: &place, upTo: end?.detection, limit: left) }
    return events
  }

  private func event(
    of edit: LoggedEdit, _ named: Named, _ place: EventPlace
  ) throws(FieldpackError) -> LiveEvent? {
    let kind: LiveEvent.Kind
    switch edit.operation {
    case .state: return nil
    case .insert: kind = .created
    case .update: kind = .updated
    case .delete: kind = .deleted
    }
    let layer = named.log.layer
    var event = LiveEvent(
      kind: kind, id: edit.id ?? "\(named.name)-\(edit.number)", layer: layer,
      key: KeyTuple(store: store, layer: layer, feature: .integer(edit.feature)), time: edit.time,
      schema: named.schema, place: place)
    // What cannot be shown in longitude and latitude is told without the feature.
    event.feature = try? file.feature(of: edit, in: named.log)
    if kind == .updated, let last = try named.log.last(of: edit.feature, before: edit.number) {
      event.before = try? file.feature(of: last, in: named.log)
    }
    return event
  }

  private func detections(
    after place: inout EventPlace, upTo end: Int64?, limit: Int
  ) throws(FieldpackError) -> [LiveEvent] {
    guard try file.hasTable(FieldData.detection.rawValue),
      let schema = try file.schema(of: FieldData.detection)?.inDegrees
    else { return [] }
    let ids = try file.rows(
      "SELECT fid FROM detection WHERE fid > ? AND fid <= ? ORDER BY fid LIMIT ?",
      [.integer(place.detection), .integer(end ?? .max), .integer(Int64(limit))])
    var events: [LiveEvent] = []
    for id in ids.compactMap(\.first?.integerValue) {
      place.detection = id
      guard let feature = try file.feature(.integer(id), in: FieldData.detection),
        let kind = feature[Column<String>("kind")].flatMap({ Detection.Kind(rawValue: $0) })
      else { continue }
      events.append(
        LiveEvent(
          kind: .init(kind), id: "detection-\(id)", layer: FieldData.detection,
          key: KeyTuple(store: store, layer: FieldData.detection, feature: .integer(id)),
          time: feature[Column<Instant>("time")], feature: feature, schema: schema, place: place))
    }
    return events
  }

  // MARK: Devices

  /// How many fixes each run has taken.
  func runs() throws(FieldpackError) -> [Int64: Int64] {
    guard try file.hasTable(FieldData.run.rawValue) else { return [:] }
    var runs: [Int64: Int64] = [:]
    for row in try file.rows("SELECT id, fixes FROM monitor_run") {
      if let id = row[0].integerValue, let fixes = row[1].integerValue { runs[id] = fixes }
    }
    return runs
  }

  /// Where the devices are that have moved since the runs had taken so many fixes.
  func positions(since known: [Int64: Int64] = [:]) throws(FieldpackError) -> [LiveEvent] {
    guard try file.hasTable(FieldData.state.rawValue) else { return [] }
    var events: [LiveEvent] = []
    for (run, fixes) in try runs().sorted(by: { $0.key < $1.key }) where known[run] ?? -1 < fixes {
      let rows = try file.rows(
        "SELECT s.device, s.longitude, s.latitude, s.time_ms, s.last_fix, s.id, r.name "
          + "FROM monitor_state s JOIN monitor_run r ON r.id = s.run_id "
          + "WHERE s.run_id = ? AND s.last_fix >= ? ORDER BY s.last_fix",
        [.integer(run), .integer(known[run] ?? 0)])
      for row in rows {
        if let event = try position(row, run) { events.append(event) }
      }
    }
    return events
  }

  private func position(
    _ row: [SQLiteValue], _ run: Int64
  ) throws(FieldpackError) -> LiveEvent? {
    guard let device = row[0].textValue, case .real(let longitude) = row[1],
      case .real(let latitude) = row[2], let fix = row[4].integerValue,
      let id = row[5].integerValue
    else { return nil }
    let stays = try file.rows(
      "SELECT coalesce(region, region_text) FROM monitor_stay WHERE run_id = ? AND device = ? "
        + "ORDER BY fix", [.integer(run), .text(device)])
    let regions = stays.compactMap { row in
      row[0].integerValue.map { "\($0)" } ?? row[0].textValue
    }
    let time = row[3].integerValue.map { Instant(milliseconds: $0) }
    var feature = Feature(geometry: .point(x: longitude, y: latitude))
    feature.attributes["run"] = row[6].textValue.map(Value.text) ?? .null
    feature.attributes["device"] = .text(device)
    feature.attributes["time"] = time.map(Value.dateTime) ?? .null
    feature.attributes["fix"] = .integer(fix)
    feature.attributes["regions"] = .text(regions.joined(separator: ","))
    return LiveEvent(
      kind: .position, id: "position-\(run)-\(fix)", layer: FieldData.state,
      key: KeyTuple(store: store, layer: FieldData.state, feature: .integer(id)), time: time,
      feature: feature, schema: Self.positionSchema)
  }

  private static let positionSchema = Schema(
    layer: FieldData.state, geometry: GeometryColumn(type: .point),
    columns: [
      ColumnDefinition("run", .text()), ColumnDefinition("device", .text()),
      ColumnDefinition("time", .dateTime), ColumnDefinition("fix", .integer),
      ColumnDefinition("regions", .text()),
    ])
}
