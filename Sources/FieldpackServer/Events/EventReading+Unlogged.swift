import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// Events of layers without a change log. They are told once, because the file does not keep them.
extension EventReading {
  /// What shows that other programs may have changed a layer.
  struct Print: Hashable, Sendable {
    var lastChange: String?
    var lastRow: Int64?
  }

  private static let ownLayers: Set<LayerID> = [
    FieldData.run, FieldData.state, FieldData.stay, FieldData.log, FieldData.detection,
  ]

  /// More features at a time are told as one change of the layer.
  private static let mostTold = 1000

  /// The layers without a log, as they are now.
  func prints() throws(FieldpackError) -> [LayerID: Print] {
    let logged = Set(try file.loggedLayers())
    let names = try file.rows(
      "SELECT table_name, last_change FROM gpkg_contents "
        + "WHERE data_type IN ('features', 'attributes')")
    var prints: [LayerID: Print] = [:]
    for row in names {
      guard let name = row[0].textValue else { continue }
      let layer = LayerID(name)
      guard !logged.contains(layer), !Self.ownLayers.contains(layer),
        let id = try file.schema(of: layer)?.idColumn
      else { continue }
      // For a table the last entry of an index tells the maximum; for a view every row may be read.
      let isTable = try file.rows(
        "SELECT 1 FROM sqlite_master WHERE name = ? AND type = 'table'", [.text(name)])
      let last =
        isTable.isEmpty
        ? nil : try file.rows("SELECT max(\(quoted(id))) FROM \(quoted(name))").first?.first
      prints[layer] = Print(lastChange: row[1].textValue, lastRow: last?.integerValue)
    }
    return prints
  }

  /// What this program has changed in layers without a log.
  func unlogged(
    _ runs: [ChangeLog.Run], among layers: Set<LayerID>
  ) throws(FieldpackError) -> [LiveEvent] {
    var events: [LiveEvent] = []
    for run in runs where layers.contains(run.layer) {
      let kind = LiveEvent.Kind(run.kind)
      guard kind != .changed else {
        events.append(Self.changed(run.layer))
        continue
      }
      guard let schema = try file.schema(of: run.layer) else { continue }
      guard run.ids.count <= Self.mostTold else {
        events.append(Self.changed(run.layer))
        continue
      }
      for id in run.ids {
        events.append(try event(kind, id, in: run.layer, schema))
      }
    }
    return events
  }

  private func event(
    _ kind: LiveEvent.Kind, _ id: FeatureID, in layer: LayerID, _ schema: Schema
  ) throws(FieldpackError) -> LiveEvent {
    var event = LiveEvent(
      kind: kind, id: RandomID.make(), layer: layer,
      key: KeyTuple(store: store, layer: layer, feature: id), schema: schema.inDegrees)
    guard kind != .deleted, let column = schema.idColumn, case .integer(let number) = id else {
      return event
    }
    var query = Query(
      layer, where: .compare(.column(column), .equal, .literal(.integer(number))))
    if let srs = schema.geometry?.srs, !srs.isUndefined { query = query.transformed(to: .wgs84) }
    // What cannot be moved to degrees is told without its place.
    event.feature = (try? file.features(query))?.first
    return event
  }

  static func changed(_ layer: LayerID) -> LiveEvent {
    LiveEvent(kind: .changed, id: RandomID.make(), layer: layer)
  }
}
