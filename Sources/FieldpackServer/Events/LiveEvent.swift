import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackMonitoring

/// Something that has happened in the file, as clients are told of it.
struct LiveEvent: Sendable {
  enum Kind: String, Hashable, Sendable, CaseIterable {
    case created, updated, deleted
    /// Something in a layer without a change log, by another program.
    case changed
    case entered, left, crossed, dwelled, inside, outside, started, moved
    /// The newest state of a device.
    case position

    init(_ kind: Detection.Kind) {
      switch kind {
      case .start: self = .started
      case .exit: self = .left
      case .moved: self = .moved
      case .enter: self = .entered
      case .inside: self = .inside
      case .outside: self = .outside
      case .cross: self = .crossed
      case .dwell: self = .dwelled
      }
    }

    init(_ kind: ChangeLog.Kind) {
      switch kind {
      case .created: self = .created
      case .updated: self = .updated
      case .deleted: self = .deleted
      case .layer: self = .changed
      }
    }

    /// The type of the CloudEvent.
    var type: String {
      switch self {
      case .created, .updated, .deleted: "fieldpack.feature.\(rawValue)"
      case .changed: "fieldpack.layer.changed"
      case .position: "fieldpack.position"
      default: "fieldpack.detection.\(rawValue)"
      }
    }
  }

  var kind: Kind
  /// Stays the same however often the event is told.
  var id: String
  var layer: LayerID
  var key: KeyTuple?
  var time: Instant?
  /// In longitude and latitude; `nil` where nobody knows it.
  var feature: Feature?
  /// An updated feature as it was before.
  var before: Feature?
  /// The columns of the feature, with a geometry in longitude and latitude.
  var schema: Schema?
  /// How far a client has read that has this event; `nil` for an event that is not told again.
  var place: EventPlace?

  // MARK: Texts

  /// The CloudEvent (version 1.0, JSON format) in one line; without the feature where that cannot be
  /// written.
  func json() -> [UInt8] {
    let source = "/collections/" + PercentText.encode(CollectionName.id(of: layer))
    let head: JSONValue = .members([
      "specversion": "1.0", "id": .text(id), "source": .text(source), "type": .text(kind.type),
      "subject": .text(key.map(\.description) ?? layer.rawValue),
      "time": time.map { .text($0.description) },
      "datacontenttype": feature == nil ? nil : "application/geo+json",
    ])
    var bytes: [UInt8] = []
    head.append(to: &bytes)
    guard let feature, let schema else { return bytes }
    // A position that is no number has no place in JSON. The event is told all the same, so that what
    // comes after it is.
    guard let data = try? Self.geoJSON(feature, id: key?.feature ?? .text(id), schema) else {
      var bare = self
      bare.feature = nil
      return bare.json()
    }
    bytes.removeLast()
    bytes += ",\"data\":".utf8
    bytes += data
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  private static func geoJSON(
    _ feature: Feature, id: FeatureID, _ schema: Schema
  ) throws(FieldpackError) -> [UInt8] {
    var options = GeoJSONWriter.Options()
    options.layout = .lines
    options.decimals = 8
    let output = ByteOutput()
    var writer = GeoJSONWriter(output, options: options)
    try writer.begin(schema)
    try writer.feature(ValueRow(feature, id: id, schema: schema))
    try writer.finish()
    var bytes = output.buffer
    while bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    return bytes
  }

  /// The event as a server-sent event (HTML Standard, 9.2.6).
  func lines() -> [UInt8] {
    var bytes = Array("event: \(kind.rawValue)\n".utf8)
    if let place { bytes += "id: \(place.text)\n".utf8 }
    bytes += "data: ".utf8
    bytes += json()
    bytes += "\n\n".utf8
    return bytes
  }
}

extension Schema {
  /// The schema with its geometry in longitude and latitude.
  var inDegrees: Schema {
    var schema = self
    if let srs = schema.geometry?.srs, !srs.isUndefined { schema.geometry?.srs = .wgs84 }
    return schema
  }
}
