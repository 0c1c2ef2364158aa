import Fieldpack
import FieldpackCore
import FieldpackGeometry

/// What `info --json` prints.
struct InfoDocument {
  let stores: [InfoCommand.StoreInfo]
  let source: OpenedSource

  var document: JSONValue {
    [
      "source": .text(source.name), "stores": .array(stores.map(store)),
      "diagnostics": .array(source.workspace.diagnostics.map(diagnostic)),
    ]
  }

  private func store(_ info: InfoCommand.StoreInfo) -> JSONValue {
    let config = info.config
    return [
      "id": .text(config.id.rawValue), "name": .text(config.name), "type": .text(config.type),
      "version": .text(config.version), "uri": .text(config.uri),
      "state": info.error == nil ? "open" : "failed",
      "error": info.error.map { JSONValue(reason: $0) } ?? nil,
      "layers": .array(info.layers.map(layer)),
    ]
  }

  private func layer(_ layer: Layer) -> JSONValue {
    [
      "name": .text(layer.id.rawValue), "kind": .text(layer.kind.rawValue),
      "title": JSONValue(layer.title), "description": JSONValue(layer.description),
      "count": JSONValue(layer.featureCount), "envelope": JSONValue(layer.envelope),
      "geometry": layer.schema.geometry.map { geometry($0, layer) } ?? nil,
      "idColumn": JSONValue(layer.schema.idColumn),
      "columns": .array(layer.schema.columns.map(column)), "isView": .boolean(layer.isView),
      "notes": JSONValue(layer.notes),
    ]
  }

  private func geometry(_ geometry: GeometryColumn, _ layer: Layer) -> JSONValue {
    [
      "column": .text(geometry.name), "type": .text(geometry.type.name),
      "z": Self.rule(geometry.z), "m": Self.rule(geometry.m),
      "srs": .text(geometry.srs.description), "srsName": JSONValue(layer.srsName),
      "hasSpatialIndex": .boolean(layer.hasSpatialIndex),
    ]
  }

  private static func rule(_ rule: OrdinateRule) -> JSONValue {
    switch rule {
    case .prohibited: "prohibited"
    case .mandatory: "mandatory"
    case .optional: "optional"
    }
  }

  private func column(_ column: ColumnDefinition) -> JSONValue {
    [
      "name": .text(column.name), "type": .text(column.type.title),
      "isNullable": .boolean(column.isNullable), "isUnique": .boolean(column.isUnique),
      "default": JSONValue(column.defaultSQL), "isGenerated": .boolean(column.isGenerated),
      "title": JSONValue(column.title), "description": JSONValue(column.description),
    ]
  }

  private func diagnostic(_ diagnostic: ConfigDiagnostic) -> JSONValue {
    [
      "severity": .text(diagnostic.severity.rawValue), "file": .text(diagnostic.file),
      "line": JSONValue(diagnostic.line), "column": JSONValue(diagnostic.column),
      "message": .text(diagnostic.message),
    ]
  }
}
