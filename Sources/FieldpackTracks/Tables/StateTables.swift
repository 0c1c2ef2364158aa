import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackMonitoring
import FieldpackSQLite

/// A row of `monitor_state`, with the stays that belong to it.
struct StateRow: Sendable {
  /// `nil` where it is not known to be there with this track.
  var id: Int64?
  var state: DeviceState
  var track: Int64?
  /// Whether the stays are to be stored, too.
  var hasOtherStays = false
}

/// `monitor_state` and `monitor_stay`: what a run's monitor knows of each device.
struct StateTables {
  let writer: GeoPackageWriter
  let run: Int64

  // MARK: Writing

  /// Stores what is known of devices, and notes the ids of their rows.
  func store(_ rows: inout [StateRow]) throws(FieldpackError) {
    let update = try writer.prepare(Self.update, in: FieldData.state)
    let insert = try writer.prepare(Self.insert, in: FieldData.state)
    let stays = try StayStatements(writer)
    for index in rows.indices {
      let row = rows[index]
      var isThere = false
      if let id = row.id {
        try bind(row.state, to: update)
        try update.bind(id, at: 11)
        try update.run()
        // Somebody else may have taken the row away, and its stays with it.
        isThere = writer.connection.changes == 1
      }
      if !isThere { rows[index].id = try store(row, insert) }
      if !isThere || row.hasOtherStays { try store(row.state, stays) }
    }
  }

  /// - Returns: the id of the row.
  private func store(
    _ row: StateRow, _ insert: SessionStatement
  ) throws(FieldpackError) -> Int64? {
    try bindAll(row, to: insert)
    try insert.run()
    guard writer.connection.changes == 0 else { return writer.connection.lastInsertRowID }
    let upsert = try writer.prepare(Self.upsert, in: FieldData.state)
    try bindAll(row, to: upsert)
    defer { upsert.reset() }
    var id: Int64?
    while try upsert.step() { id = upsert.row.integer(0) }
    return id
  }

  /// Without the track, whose foreign key would have SQLite ready to take each row back.
  private static let columns = [
    "last_fix", "longitude", "latitude", "time_ms", "anchor_fix", "anchor_longitude",
    "anchor_latitude", "anchor_beyond_ms", "late_count", "late_ms",
  ]

  private static let update =
    "UPDATE monitor_state SET \(columns.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?"

  private static let values =
    "INSERT INTO monitor_state (\(columns.joined(separator: ", ")), run_id, device, track_fid) "
    + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")), ?, ?, ?) "
    + "ON CONFLICT (run_id, device) DO "

  /// Twice as fast as the other one, where the row is not there.
  private static let insert = values + "NOTHING"

  private static let upsert =
    values + "UPDATE SET track_fid = excluded.track_fid, "
    + "\(columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")) RETURNING id"

  private func bindAll(_ row: StateRow, to statement: SessionStatement) throws(FieldpackError) {
    try bind(row.state, to: statement)
    try statement.bind(run, at: 11)
    try statement.bind(row.state.device, at: 12)
    try statement.bind(row.track, at: 13)
  }

  /// Binds the columns that all statements have.
  private func bind(_ state: DeviceState, to statement: SessionStatement) throws(FieldpackError) {
    try statement.bind(state.fix, at: 1)
    try statement.bind(state.longitude, at: 2)
    try statement.bind(state.latitude, at: 3)
    try statement.bind(state.time?.milliseconds, at: 4)
    try statement.bind(state.anchor.map { Int64($0.fix) }, at: 5)
    try statement.bind(state.anchor?.longitude, at: 6)
    try statement.bind(state.anchor?.latitude, at: 7)
    try statement.bind(state.anchor?.beyondSince?.milliseconds, at: 8)
    try statement.bind(state.late.map { Int64($0.count) }, at: 9)
    try statement.bind(state.late?.time.milliseconds, at: 10)
  }

  private struct StayStatements {
    let delete, insert: SessionStatement

    init(_ writer: GeoPackageWriter) throws(FieldpackError) {
      delete = try writer.prepare(
        "DELETE FROM monitor_stay WHERE run_id = ? AND device = ?", in: FieldData.state)
      insert = try writer.prepare(
        "INSERT INTO monitor_stay (run_id, device, region, region_text, fix, since_ms, has_dwelt) "
          + "VALUES (?, ?, ?, ?, ?, ?, ?)", in: FieldData.state)
    }
  }

  /// Stores the stays of a device.
  private func store(_ state: DeviceState, _ stays: StayStatements) throws(FieldpackError) {
    for statement in [stays.delete, stays.insert] {
      try statement.bind(run, at: 1)
      try statement.bind(state.device, at: 2)
    }
    try stays.delete.run()
    for stay in state.stays {
      try stays.insert.bind(region: stay.region, at: 3)
      try stays.insert.bind(stay.fix, at: 5)
      try stays.insert.bind(stay.since?.milliseconds, at: 6)
      try stays.insert.bind(stay.hasDwelt ? 1 : 0, at: 7)
      try stays.insert.run()
    }
  }

  // MARK: Reading

  /// Everything the run's monitor knew, device by device in the order of their names.
  func read() throws(FieldpackError) -> [StateRow] {
    var stays: [String: [Stay]] = [:]
    for row in try writer.rows(
      "SELECT device, region, region_text, fix, since_ms, has_dwelt FROM monitor_stay "
        + "WHERE run_id = ? ORDER BY id", [.integer(run)])
    {
      guard case .text(let device) = row[0], let region = FeatureID(row[1], row[2]),
        let fix = row[3].int
      else { throw damaged(FieldData.stay) }
      stays[device, default: []].append(
        Stay(region: region, fix: fix, since: row[4].instant, hasDwelt: row[5] == .integer(1)))
    }
    var found: [StateRow] = []
    for row in try writer.rows(
      "SELECT device, track_fid, last_fix, longitude, latitude, time_ms, anchor_fix, "
        + "anchor_longitude, anchor_latitude, anchor_beyond_ms, late_count, late_ms, id "
        + "FROM monitor_state WHERE run_id = ? ORDER BY device", [.integer(run)])
    {
      guard var state = DeviceState(row: row) else { throw damaged(FieldData.state) }
      state.stays = stays[state.device] ?? []
      found.append(
        StateRow(
          id: row[12].int.map(Int64.init), state: state, track: row[1].int.map(Int64.init)))
    }
    return found
  }

  private func damaged(_ layer: LayerID) -> FieldpackError {
    FieldpackError(
      .invalidData,
      "layer '\(layer)' has values of the wrong type, so that the run cannot go on. Try: another name",
      location: .init(layer: layer))
  }
}

extension DeviceState {
  fileprivate init?(row: [SQLiteValue]) {
    guard case .text(let device) = row[0], let fix = row[2].int,
      case (.some(let x), .some(let y)) = (row[3].double, row[4].double)
    else { return nil }
    self.init(device: device, fix: fix, longitude: x, latitude: y, time: row[5].instant)
    if let count = row[10].int, let time = row[11].instant {
      late = LateFixes(count: count, time: time)
    }
    if let fix = row[6].int {
      guard case (.some(let x), .some(let y)) = (row[7].double, row[8].double) else { return nil }
      anchor = Anchor(fix: fix, longitude: x, latitude: y, beyondSince: row[9].instant)
    }
  }
}
