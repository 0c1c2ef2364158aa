import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
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
      "layers": .array(info.layers.map { layer($0, info.extras) }),
      "tiles": .array(info.extras.pyramids.map(tiles)),
      "metadata": JSONValue(info.extras.metadataCount),
    ]
  }

  private func tiles(_ pyramid: TilePyramid) -> JSONValue {
    [
      "name": .text(pyramid.name.rawValue), "kind": .text(pyramid.kind.rawValue),
      "title": JSONValue(pyramid.title), "description": JSONValue(pyramid.description),
      "srs": .text(pyramid.srs.description),
      "bounds": JSONValue(pyramid.bounds.isEmpty ? nil : pyramid.bounds),
      "matrices": .array(
        pyramid.matrices.map { matrix in
          [
            "zoom": JSONValue(matrix.zoom), "width": JSONValue(matrix.width),
            "height": JSONValue(matrix.height), "tileWidth": JSONValue(matrix.tileWidth),
            "tileHeight": JSONValue(matrix.tileHeight), "pixelWidth": .real(matrix.pixelWidth),
            "pixelHeight": .real(matrix.pixelHeight),
          ]
        }),
      "notes": JSONValue(pyramid.notes),
    ]
  }

  private func relation(_ relation: Relation) -> JSONValue {
    [
      "base": .text(relation.base.rawValue), "related": .text(relation.related.rawValue),
      "kind": .text(relation.kind.rawValue), "mapping": .text(relation.mapping),
    ]
  }

  private func layer(_ layer: Layer, _ extras: StoreExtras) -> JSONValue {
    [
      "name": .text(layer.id.rawValue), "kind": .text(layer.kind.rawValue),
      "title": JSONValue(layer.title), "description": JSONValue(layer.description),
      "count": JSONValue(layer.featureCount), "envelope": JSONValue(layer.envelope),
      "geometry": layer.schema.geometry.map { geometry($0, layer) } ?? nil,
      "idColumn": JSONValue(layer.schema.idColumn),
      "columns": .array(layer.schema.columns.map(column)), "isView": .boolean(layer.isView),
      "relations": .array(
        (extras.relations(from: layer.id) + extras.relations(to: layer.id)).map(relation)),
      "metadata": JSONValue(extras.metadataCount(of: layer.id)),
      "notes": JSONValue(layer.notes),
    ]
  }

  private func geometry(_ geometry: GeometryColumn, _ layer: Layer) -> JSONValue {
    [
      "column": .text(geometry.name), "type": .text(geometry.type.name),
      "z": Self.rule(geometry.z), "m": Self.rule(geometry.m),
      "srs": .text(geometry.srs.description), "srsName": JSONValue(layer.srsName),
      "epoch": geometry.epoch.map { .real($0) } ?? nil,
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
      "constraint": column.constraint.map(constraint) ?? nil,
    ]
  }

  private func constraint(_ constraint: ColumnConstraint) -> JSONValue {
    var kind = ""
    var (values, ends, pattern): ([JSONValue], [ColumnConstraint.Bound?], String?) = ([], [], nil)
    switch constraint.rule {
    case .oneOf(let members):
      kind = "enum"
      values = members.map { .text($0.value) }
    case .range(let low, let high):
      kind = "range"
      ends = [low, high]
    case .glob(let text):
      kind = "glob"
      pattern = text
    }
    func end(_ place: Int) -> JSONValue {
      guard ends.indices.contains(place), let bound = ends[place] else { return nil }
      return ["value": Self.value(bound.value), "isInclusive": .boolean(bound.isInclusive)]
    }
    return [
      "name": .text(constraint.name), "kind": .text(kind), "values": .array(values),
      "min": end(0), "max": end(1), "pattern": JSONValue(pattern),
      "description": JSONValue(constraint.description),
    ]
  }

  private static func value(_ value: Value) -> JSONValue {
    switch value {
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    default: .text(value.plainText)
    }
  }

  private func diagnostic(_ diagnostic: ConfigDiagnostic) -> JSONValue {
    [
      "severity": .text(diagnostic.severity.rawValue), "file": .text(diagnostic.file),
      "line": JSONValue(diagnostic.line), "column": JSONValue(diagnostic.column),
      "message": .text(diagnostic.message),
    ]
  }
}
