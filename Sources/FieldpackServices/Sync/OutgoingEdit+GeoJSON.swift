package import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

extension OutgoingEdit {
  /// The feature as SpatialConnect sends it, with the id and the author of the edit in its `metadata`, by
  /// which a receiver tells that it has the edit already.
  ///
  /// Its geometry is taken to be in WGS 84.
  /// - Throws: `.invalidData` for a geometry with a coordinate that is not finite.
  package func geoJSON() throws(FieldpackError) -> [UInt8] {
    let schema = Schema(
      layer: layer, geometry: GeometryColumn(srs: .wgs84, z: .optional),
      columns: feature.attributes.elements.map { attribute in
        if case .boolean = attribute.value { return ColumnDefinition(attribute.name, .boolean) }
        return ColumnDefinition(attribute.name, .text())
      })
    var options = GeoJSONWriter.Options()
    options.layout = .lines
    options.spatialConnect = .init(
      store: store, client: device, createdAt: time, editID: id, author: author)
    let output = ByteOutput()
    var writer = GeoJSONWriter(output, options: options)
    try writer.begin(schema)
    try writer.feature(ValueRow(feature, id: feature.id ?? .text(id), schema: schema))
    try writer.finish()
    return output.buffer.dropLast(output.buffer.last == UInt8(ascii: "\n") ? 1 : 0)
  }

  /// Where the feature of the edit is.
  var location: KeyTuple.Partial { .init(store: store, layer: layer, feature: feature.id) }
}
