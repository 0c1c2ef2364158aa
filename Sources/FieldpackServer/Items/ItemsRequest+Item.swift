import FieldpackCore
import FieldpackFormats

extension ItemsRequest {
  /// A feature of the layer as GeoJSON and a line break; `nil` where there is none.
  ///
  /// - Parameter decimals: the decimals of the positions; `nil` for all.
  func bytes(
    of id: FeatureID, in snapshot: any SnapshotReading, decimals: Int? = nil
  ) throws(FieldpackError) -> [UInt8]? {
    var asked = self
    asked.filter = .compare(
      .column(layer.schema.idColumn ?? "fid"), .equal, .literal(id.columnValue))
    let output = ByteOutput()
    var options = GeoJSONWriter.Options()
    options.layout = .lines
    options.swapsAxes = swapsAxes
    options.usesFeatureIDs = true
    options.decimals = decimals
    var writer = GeoJSONWriter(output, options: options)
    try snapshot.scan(asked.query(limit: 1, box: nil), into: &writer)
    try writer.finish()
    return writer.count == 0 ? nil : output.buffer
  }
}
