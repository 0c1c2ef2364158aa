public import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry

/// The layers that persons and what sensors capture of them are kept in.
///
/// `bio_person` has the persons, `bio_item` a feature for each item, related to its person by
/// `bio_person_item` and to its files in `media` by `bio_item_media`, and `bio_device` the sensors.
/// `bio_op_log` is the log of operations on the wire; `bio_session` and `bio_capture` keep what a link
/// has begun, so that a kill loses nothing.
public enum SensorLayers {
  public static let person: LayerID = "bio_person"
  public static let item: LayerID = "bio_item"
  public static let device: LayerID = "bio_device"
  public static let log: LayerID = "bio_op_log"
  public static let session: LayerID = "bio_session"
  public static let capture: LayerID = "bio_capture"
  public static let media: LayerID = "media"
  static let itemMedia = "bio_item_media"
  static let personItem = "bio_person_item"

  /// The version of the layers that this program writes.
  static let version: Int64 = 1

  /// What links the layers.
  struct Relations: Sendable {
    var media: Relation
    var items: Relation

    /// `nil` where the file has no persons.
    init?(_ relations: [Relation]) {
      guard let media = relations.first(where: { $0.mapping == itemMedia }),
        let items = relations.first(where: { $0.mapping == personItem })
      else { return nil }
      (self.media, self.items) = (media, items)
    }

    init(media: Relation, items: Relation) { (self.media, self.items) = (media, items) }
  }

  /// Makes the layers where they are missing.
  @discardableResult
  static func prepare(_ writer: GeoPackageWriter) throws(FieldpackError) -> Relations {
    try writer.finding("sensors") { () throws(FieldpackError) in try make(writer) }
  }

  private static func make(_ writer: GeoPackageWriter) throws(FieldpackError) -> Relations {
    try layers.prepare(in: writer)
    try MediaLayer.prepare(writer)
    let known = try writer.relations()
    if let relations = Relations(known) { return relations }
    let media =
      if let found = known.first(where: { $0.mapping == itemMedia }) { found } else {
        try writer.createRelation(from: item, to: MediaLayer.id, as: .media, mapping: itemMedia)
      }
    let items =
      if let found = known.first(where: { $0.mapping == personItem }) { found } else {
        try writer.createRelation(from: person, to: item, as: .features, mapping: personItem)
      }
    return Relations(media: media, items: items)
  }

  /// In an order in which each refers to those before it.
  static let layers = FieldLayers(
    version: version, [personLayer, deviceLayer, itemLayer, logLayer, sessionLayer, captureLayer])

  private static func texts(_ names: String...) -> [ColumnDefinition] {
    names.map { ColumnDefinition($0, .text()) }
  }

  private static func required(
    _ name: String, _ type: ColumnType, default value: String? = nil
  ) -> ColumnDefinition {
    ColumnDefinition(name, type, isNullable: false, defaultSQL: value)
  }

  // MARK: Persons and items

  private static var personLayer: FieldLayer {
    FieldLayer(
      Schema(
        layer: person, idColumn: "id",
        columns: texts("first_name", "middle_name", "last_name", "other_name")
          + ["aliases_json", "dates_of_birth_json", "places_of_birth_json"].map {
            required($0, .json, default: "'[]'")
          }
          + [PersonPickList.gender, .hairColor, .eyeColor, .race].map {
            ColumnDefinition($0.rawValue, .text(), title: $0.title, constraint: $0.constraint)
          } + texts("height", "weight", "notes")
          + [
            required("created_at", .dateTime), ColumnDefinition("modified_at", .dateTime),
          ]))
  }

  private static var deviceLayer: FieldLayer {
    FieldLayer(
      Schema(
        layer: device, idColumn: "id",
        columns: texts("name", "uri", "modalities", "submodalities") + [
          required("inactivity_timeout", .integer, default: "0"),
          ColumnDefinition("most_recent_session_id", .text()),
          ColumnDefinition("parameters_json", .json),
          ColumnDefinition("last_edit_at", .dateTime),
        ]),
      rules: ["CHECK (inactivity_timeout >= 0)"],
      indexes: ["CREATE INDEX IF NOT EXISTS bio_device_address ON bio_device (uri, name)"])
  }

  private static var itemLayer: FieldLayer {
    FieldLayer(
      Schema(
        layer: item, geometry: GeometryColumn(type: .point),
        columns: [
          required("person_id", .integer), ColumnDefinition("device_id", .integer),
          required("item_index", .integer, default: "0"),
          ColumnDefinition("modality", .text()), ColumnDefinition("submodality", .text()),
          ColumnDefinition("data_content_type", .text()), ColumnDefinition("capture_id", .text()),
          ColumnDefinition("capture_metadata_json", .json),
          ColumnDefinition("annotations_json", .json), ColumnDefinition("notes", .text()),
          required("created_at", .dateTime),
        ]),
      rules: [
        "FOREIGN KEY (person_id) REFERENCES bio_person (id) ON DELETE CASCADE",
        "FOREIGN KEY (device_id) REFERENCES bio_device (id) ON DELETE SET NULL",
      ],
      indexes: [
        "CREATE INDEX IF NOT EXISTS bio_item_person ON bio_item (person_id, item_index)",
        "CREATE INDEX IF NOT EXISTS bio_item_device ON bio_item (device_id)",
      ])
  }

  // MARK: Work of links

  private static var logLayer: FieldLayer {
    FieldLayer(
      Schema(
        layer: log, idColumn: "id",
        columns: [
          required("device_uri", .text()), ColumnDefinition("session_id", .text()),
          ColumnDefinition("item_fid", .integer), required("operation", .text()),
          ColumnDefinition("sequence", .text()), ColumnDefinition("http_status", .integer),
          ColumnDefinition("status", .text()), ColumnDefinition("message", .text()),
          ColumnDefinition("bad_fields_json", .json), required("started_at_unix", .double),
          required("elapsed_s", .double),
        ]))
  }

  private static var sessionLayer: FieldLayer {
    FieldLayer(
      Schema(
        layer: session, idColumn: "id",
        columns: [
          required("device_uri", .text()), required("device_name", .text()),
          ColumnDefinition("session_id", .text()),
          required("holds_lock", .boolean, default: "0"), required("updated_at", .dateTime),
        ]), rules: ["UNIQUE (device_uri, device_name)"])
  }

  /// What became of a capture.
  enum CaptureState: String, CaseIterable {
    case pending, stored, lost
  }

  /// `batch` numbers the answers that named captures: the captures of one belong together, and those of
  /// a later one take their place. An item may go before its captures, so that no rule ties them.
  private static var captureLayer: FieldLayer {
    let states = CaptureState.allCases.map { ColumnConstraint.Member($0.rawValue) }
    return FieldLayer(
      Schema(
        layer: capture, idColumn: "id",
        columns: [
          required("capture_id", .text()), required("device_uri", .text()),
          required("device_name", .text()), ColumnDefinition("item_fid", .integer),
          required("batch", .integer),
          ColumnDefinition(
            "state", .text(), isNullable: false, defaultSQL: "'pending'",
            constraint: ColumnConstraint("fieldpack_capture_state", .oneOf(states))),
          ColumnDefinition("reason", .text(), description: "why the capture is lost"),
          ColumnDefinition("media_id", .integer), ColumnDefinition("thumbnail_id", .integer),
          required("noted_at", .dateTime), ColumnDefinition("settled_at", .dateTime),
        ]),
      rules: ["UNIQUE (capture_id, device_uri, device_name)"],
      indexes: [
        "CREATE INDEX IF NOT EXISTS bio_capture_item ON bio_capture (item_fid, batch)",
        "CREATE INDEX IF NOT EXISTS bio_capture_pending ON bio_capture (id) "
          + "WHERE state = 'pending'",
      ])
  }
}
