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
      "forms": .array(source.workspace.forms.map(form)),
      "backend": source.workspace.remote.map(backend) ?? nil,
      "diagnostics": .array(source.workspace.diagnostics.map(diagnostic)),
    ]
  }

  private func store(_ info: InfoCommand.StoreInfo) -> JSONValue {
    let config = info.config
    return [
      "store": .text(config.id.rawValue), "name": .text(config.name), "type": .text(config.type),
      "version": .text(config.version), "uri": .text(config.shownURI),
      "state": .text(info.state.rawValue), "downloaded_bytes": JSONValue(info.downloadedSize),
      "error": info.error.map { JSONValue(reason: $0) } ?? nil,
      "layers": .array(info.layers.map { layer($0, info) }),
      "tiles": .array(info.extras.pyramids.map(tiles)),
      "metadata_count": JSONValue(info.extras.metadataCount),
      "uncatalogued_tables": JSONValue(info.extras.uncatalogued),
    ]
  }

  private func tiles(_ pyramid: TilePyramid) -> JSONValue {
    [
      "layer": .text(pyramid.name.rawValue), "kind": .text(pyramid.kind.rawValue),
      "title": JSONValue(pyramid.title), "description": JSONValue(pyramid.description),
      "srs": .text(pyramid.srs.description),
      "matrix_envelope": JSONValue(pyramid.bounds.isEmpty ? nil : pyramid.bounds),
      "matrices": .array(
        pyramid.matrices.map { matrix in
          [
            "zoom": JSONValue(matrix.zoom), "width_tiles": JSONValue(matrix.width),
            "height_tiles": JSONValue(matrix.height), "tile_width_px": JSONValue(matrix.tileWidth),
            "tile_height_px": JSONValue(matrix.tileHeight), "pixel_width": .real(matrix.pixelWidth),
            "pixel_height": .real(matrix.pixelHeight),
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

  private func layer(_ layer: Layer, _ info: InfoCommand.StoreInfo) -> JSONValue {
    let extras = info.extras
    let relations = extras.relations(at: layer.id)
    return [
      "layer": .text(layer.id.rawValue), "kind": .text(layer.kind.rawValue),
      "title": JSONValue(layer.title), "description": JSONValue(layer.description),
      "count": JSONValue(layer.featureCount), "envelope": JSONValue(layer.envelope),
      "geometry": layer.schema.geometry.map { geometry($0, layer) } ?? nil,
      "id_column": JSONValue(layer.schema.idColumn),
      "columns": .array(layer.schema.columns.map(column)), "is_view": .boolean(layer.isView),
      "relations": .array((relations.from + relations.to).map(relation)),
      "metadata_count": JSONValue(extras.metadataCount(of: layer.id)),
      "notes": JSONValue(layer.notes), "statistics": JSONValue(info.statistics[layer.id]),
    ]
  }

  private func geometry(_ geometry: GeometryColumn, _ layer: Layer) -> JSONValue {
    [
      "column": .text(geometry.name), "geometry_type": .text(geometry.type.name),
      "z": Self.rule(geometry.z), "m": Self.rule(geometry.m),
      "srs": .text(geometry.srs.description), "srs_name": JSONValue(layer.srsName),
      "epoch": geometry.epoch.map { .real($0) } ?? nil,
      "has_spatial_index": .boolean(layer.hasSpatialIndex),
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
      "column": .text(column.name), "type": .text(column.type.title),
      "is_nullable": .boolean(column.isNullable), "is_unique": .boolean(column.isUnique),
      "default": JSONValue(column.defaultSQL), "is_generated": .boolean(column.isGenerated),
      "title": JSONValue(column.title), "description": JSONValue(column.description),
      "constraint": column.constraint.map(constraint) ?? nil,
    ]
  }

  private func constraint(_ constraint: ColumnConstraint) -> JSONValue {
    typealias Bound = ColumnConstraint.Bound
    let (kind, values, low, high, pattern): (JSONValue, [JSONValue], Bound?, Bound?, String?) =
      switch constraint.rule {
      case .oneOf(let members): ("enum", members.map { .text($0.value) }, nil, nil, nil)
      case .range(let low, let high): ("range", [], low, high, nil)
      case .glob(let pattern): ("glob", [], nil, nil, pattern)
      }
    func end(_ bound: Bound?) -> JSONValue {
      guard let bound else { return nil }
      return ["value": Self.value(bound.value), "is_inclusive": .boolean(bound.isInclusive)]
    }
    return [
      "name": .text(constraint.name), "kind": kind, "values": .array(values),
      "minimum": end(low), "maximum": end(high), "pattern": JSONValue(pattern),
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

  private func form(_ form: FormConfig) -> JSONValue {
    [
      "form": .text(form.key), "label": .text(form.label), "id": .integer(form.id),
      "version": .integer(form.version), "field_count": JSONValue(form.fields.count),
    ]
  }

  private func backend(_ remote: RemoteConfig) -> JSONValue {
    let broker = remote.broker.map { broker -> JSONValue in
      [
        "host": .text(broker.host), "port": JSONValue(broker.port),
        "is_encrypted": .boolean(broker.isEncrypted),
      ]
    }
    return ["uri": .text(StoreConfig.withoutSecrets(remote.uri)), "broker": broker ?? nil]
  }

  private func diagnostic(_ diagnostic: ConfigDiagnostic) -> JSONValue {
    [
      "level": .text(diagnostic.severity.rawValue), "file": .text(diagnostic.file),
      "line": JSONValue(diagnostic.line), "column": JSONValue(diagnostic.column),
      "message": .text(diagnostic.message),
    ]
  }
}
