package import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackSQLite

/// What a file keeps of its synchronisation.
struct SyncTables {
  /// The edits that came from devices, each with what became of it.
  static let received = "fieldpack_sync_received"
  /// What was taken from the other side, and when.
  static let pulls = "fieldpack_sync_pull"
  /// The UUID of the file among its copies, in one row.
  static let replica = "fieldpack_sync_replica"
  /// What features are called by the receivers of one-way deliveries.
  static let serverIDs = "fieldpack_sync_server"
  /// Edits that were never sent, because a newer one stands for them.
  static let superseded = "fieldpack_sync_superseded"
  static let `extension` = "fieldpack_sync"

  /// The edits that the receiver refuses for good, and the synchronisation itself.
  static let jobs = JobTable(
    "sync_job", subject: .text(), extra: [ColumnDefinition("layer", .text())])

  /// Values that do not stand, for people to look at; a layer without geometry.
  static let layers = FieldLayers(
    version: 1,
    [
      FieldLayer(
        Schema(
          layer: "conflict", idColumn: "id",
          columns: [
            ColumnDefinition("kind", .text(), isNullable: false),
            ColumnDefinition("layer", .text(), isNullable: false),
            ColumnDefinition("feature", .integer),
            ColumnDefinition("identity", .text(), isNullable: false),
            ColumnDefinition("column_name", .text()),
            ColumnDefinition(
              "lost", .text(), description: "the value that does not stand, as JSON"),
            ColumnDefinition("kept", .text(), description: "the value that stands, as JSON"),
            ColumnDefinition("edit_id", .text(), isNullable: false),
            ColumnDefinition("author", .text()), ColumnDefinition("device", .text()),
            ColumnDefinition("edited_at", .dateTime), ColumnDefinition("noted_at", .dateTime),
          ]),
        indexes: ["CREATE INDEX IF NOT EXISTS conflict_edit ON conflict (edit_id)"],
        firstColumns: ["edit_id", "identity", "lost", "kept"]),
      jobs.definition(firstColumns: ["subject", "target", "state"]),
    ])

  /// Makes what is missing.
  static func create(in writer: GeoPackageWriter) throws(FieldpackError) {
    let tables = [
      (
        received,
        "(edit_id TEXT PRIMARY KEY NOT NULL, position INTEGER NOT NULL, replica TEXT NOT NULL, "
          + "verdict TEXT NOT NULL, message TEXT) WITHOUT ROWID"
      ),
      (
        pulls,
        "(table_name TEXT COLLATE NOCASE NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, "
          + "position INTEGER NOT NULL, edit_id TEXT, PRIMARY KEY (table_name, last)) WITHOUT ROWID"
      ),
      (replica, "(id TEXT NOT NULL, receiver TEXT)"),
      (
        serverIDs,
        "(table_name TEXT COLLATE NOCASE NOT NULL, feature INTEGER NOT NULL, target TEXT NOT NULL, "
          + "id TEXT NOT NULL, PRIMARY KEY (table_name, feature, target)) WITHOUT ROWID"
      ),
      (superseded, "(edit_id TEXT PRIMARY KEY NOT NULL, newer TEXT NOT NULL) WITHOUT ROWID"),
    ]
    for (name, columns) in tables where try !writer.hasTable(name) {
      try writer.execute("CREATE TABLE \(name) \(columns)")
      try writer.registerExtension(`extension`, table: name)
    }
    if try writer.rows("SELECT id FROM \(replica)").isEmpty {
      try writer.execute("INSERT INTO \(replica) (id) VALUES (?)", [.text(RandomID.make())])
    }
    try layers.prepare(in: writer)
  }

  /// Adds conflicts of an edit to the layer for them.
  static func note(
    _ conflicts: [SyncConflict], of edit: SyncEdit, feature: Int64?, in layer: LayerID,
    at now: Instant, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    for conflict in conflicts {
      try writer.create(
        Feature(attributes: conflict.attributes(of: edit, feature: feature, in: layer, at: now)),
        in: "conflict")
    }
  }

  /// The UUID of the file, and who receives its edits.
  static func file(
    in snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> (id: String?, receiver: String?) {
    guard try snapshot.hasTable(replica) else { return (nil, nil) }
    let row = try snapshot.rows("SELECT id, receiver FROM \(replica)").first
    return (row?[0].textValue, row?[1].textValue)
  }

  /// Keeps who receives the edits of the file. An edit counts as sent once, so that there is one receiver.
  ///
  /// - Throws: `.constraint` where another one receives them.
  static func setReceiver(
    _ receiver: String, called name: String, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    let known = try file(in: writer).receiver
    guard known != receiver else { return }
    guard known == nil else {
      throw FieldpackError(
        .constraint,
        "the edits of this file go to another receiver than \(name), and those that went there would "
          + "be missing here. Try: synchronise with that one, or begin with a new copy")
    }
    try writer.execute("UPDATE \(replica) SET receiver = ?", [.text(receiver)])
  }

  /// Notes what a receiver calls a feature.
  static func note(
    _ serverID: String, of feature: FeatureID, in layer: LayerID, at target: String,
    _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    guard case .integer(let number) = feature else { return }
    try writer.execute(
      "INSERT OR REPLACE INTO \(serverIDs) (table_name, feature, target, id) VALUES (?, ?, ?, ?)",
      [.text(layer.rawValue), .integer(number), .text(target), .text(serverID)])
  }

  /// What a receiver calls a feature; `nil` where it never told an id.
  static func serverID(
    of feature: Int64, in layer: LayerID, at target: String, _ snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> String? {
    try snapshot.rows(
      "SELECT id FROM \(serverIDs) WHERE table_name = ? AND feature = ? AND target = ?",
      [.text(layer.rawValue), .integer(feature), .text(target)]
    ).first?[0].textValue
  }

  /// Keeps an edit back that the receiver refuses, until it is tried again.
  static func park(
    _ edit: String, of layer: LayerID, at target: String, _ message: String?, _ now: Instant,
    _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    var job = Job(.text(edit), with: target)
    (job.state, job.attempt, job.message) = (.failed, 1, message)
    try jobs.save(job, at: now, writer, with: ["layer": layer.rawValue])
  }

  /// Notes that a newer edit stands for an older one.
  static func supersede(
    _ edit: String, by newer: String, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    try writer.execute(
      "INSERT OR IGNORE INTO \(superseded) (edit_id, newer) VALUES (?, ?)",
      [.text(edit), .text(newer)])
  }
}

extension SyncConflict {
  /// The columns of its row in the layer `conflict`.
  package func attributes(
    of edit: SyncEdit, feature: Int64?, in layer: LayerID, at now: Instant
  ) -> Attributes {
    [
      "kind": kind.rawValue, "layer": layer.rawValue, "feature": feature,
      "identity": edit.identity, "column_name": column,
      "lost": column == nil && kind != .unfit ? nil : SyncJSON.value(lost).text,
      "kept": column == nil ? nil : SyncJSON.value(kept).text,
      "edit_id": edit.id, "author": edit.author, "device": edit.device,
      "edited_at": edit.time, "noted_at": now,
    ]
  }
}
