import FieldpackCore
import FieldpackFormats

extension Format {
  /// One feature a line (or after a record separator, RFC 8142).
  public static let geoJSONSequence = Format(GeoJSONSequenceFormat())
}

private struct GeoJSONSequenceFormat: ImportedFormat, StreamedFormat {
  let name = "geojsonl"
  let title = "GeoJSONL"
  let extensions = ["geojsonl", "geojsons", "ndjson", "ndgeojson"]
  let holdsLayers = false
  let holdsKeys = true
  let srsRule = SRSRule.wgs84(elsewhere: "nothing in the file says so")

  /// Lines of JSON begin as one document does: then the extension tells.
  func recognition(of head: FileHead) -> Recognition {
    let isJSON = head.begins(with: "{") || head.begins(with: "[")
    let isNamed = extensions.contains(head.fileExtension)
    return head.begins(with: "\u{1E}") || isJSON && isNamed ? .certain : .none
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> GeoJSONReader {
    GeoJSONReader(input, options: options)
  }

  func writer(
    _ plan: ExportPlan, to place: ExportPlace
  ) throws(FieldpackError) -> TextFile<GeoJSONWriter> {
    let layout: GeoJSONWriter.Layout = plan.options.writesRecordSeparators ? .sequence : .lines
    return try TextFile(place, plan.options) { GeoJSONWriter($0, options: plan.geoJSON(layout)) }
  }
}
