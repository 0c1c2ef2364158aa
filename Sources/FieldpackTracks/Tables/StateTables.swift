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
    var update = try RowWriter(Self.update, in: FieldData.state, writer)
    var insert = try RowWriter(Self.insert, in: FieldData.state, writer)
    var stays = try StayWriters(writer)
    for index in rows.indices {
      let row = rows[index]
      var isThere = false
      if let id = row.id {
        try add(row.state, to: &update)
        try update.add(id)
        try update.run()
        // Somebody else may have taken the row away, and its stays with it.
        isThere = writer.connection.changes == 1
      }
      if !isThere { rows[index].id = try store(row, &insert) }
      if !isThere || row.hasOtherStays { try store(row.state, &stays) }
    }
  }

  /// - Returns: the id of the row.
  private func store(
    _ row: StateRow, _ insert: inout RowWriter
  ) throws(FieldpackError) -> Int64? {
    try addAll(row, to: &insert)
    let inserted = try insert.insert()
    guard writer.connection.changes == 0 else { return inserted }
    var upsert = try RowWriter(Self.upsert, in: FieldData.state, writer)
    try addAll(row, to: &upsert)
    defer { upsert.statement.reset() }
    var id: Int64?
    while try upsert.statement.step() { id = upsert.statement.row.integer(0) }
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

  private func addAll(_ row: StateRow, to rows: inout RowWriter) throws(FieldpackError) {
    try add(row.state, to: &rows)
    try rows.add(run)
    try rows.add(row.state.device)
    try rows.add(row.track)
  }

  /// Adds the columns that all statements have.
  private func add(_ state: DeviceState, to rows: inout RowWriter) throws(FieldpackError) {
    try rows.add(state.fix)
    try rows.add(state.longitude)
    try rows.add(state.latitude)
    try rows.add(state.time?.milliseconds)
    try rows.add(state.anchor?.fix)
    try rows.add(state.anchor?.longitude)
    try rows.add(state.anchor?.latitude)
    try rows.add(state.anchor?.beyondSince?.milliseconds)
    try rows.add(state.late?.count)
    try rows.add(state.late?.time.milliseconds)
  }

  private struct StayWriters {
    var delete, insert: RowWriter

    init(_ writer: GeoPackageWriter) throws(FieldpackError) {
      delete = try RowWriter(
        "DELETE FROM monitor_stay WHERE run_id = ? AND device = ?", in: FieldData.state, writer)
      insert = try RowWriter(Self.insertion, in: FieldData.state, writer)
    }

    private static let insertion = RowWriter.insertion(
      into: FieldData.stay,
      ["run_id", "device", "region", "region_text", "fix", "since_ms", "has_dwelt"])
  }

  /// Stores the stays of a device.
  private func store(_ state: DeviceState, _ stays: inout StayWriters) throws(FieldpackError) {
    try stays.delete.add(run)
    try stays.delete.add(state.device)
    try stays.delete.run()
    for stay in state.stays {
      try stays.insert.add(run)
      try stays.insert.add(state.device)
      try stays.insert.add(region: stay.region)
      try stays.insert.add(stay.fix)
      try stays.insert.add(stay.since?.milliseconds)
      try stays.insert.add(stay.hasDwelt ? 1 : 0)
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
