import FieldpackCore
import FieldpackFormats

extension Format {
  public static let geoJSON = Format(GeoJSONFormat())
}

private struct GeoJSONFormat: ImportedFormat, StreamedFormat {
  let name = "geojson"
  let title = "GeoJSON"
  let extensions = ["geojson", "json"]
  let holdsLayers = false
  let holdsKeys = true
  let srsRule = SRSRule.wgs84(elsewhere: "its member crs says so")

  func recognition(of head: FileHead) -> Recognition {
    head.begins(with: "{") || head.begins(with: "[") ? .likely : .none
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> GeoJSONReader {
    GeoJSONReader(input, options: options)
  }

  func writer(
    _ plan: ExportPlan, to place: ExportPlace
  ) throws(FieldpackError) -> TextFile<GeoJSONWriter> {
    try TextFile(place, plan.options) { GeoJSONWriter($0, options: plan.geoJSON(.collection)) }
  }
}

extension ExportPlan {
  /// How features become GeoJSON in this layout.
  func geoJSON(_ layout: GeoJSONWriter.Layout) -> GeoJSONWriter.Options {
    var writing = GeoJSONWriter.Options()
    writing.layout = layout
    writing.keyStore = keyStore
    writing.decimals = options.decimals
    writing.writesBoundingBoxes = options.writesBoundingBoxes
    writing.writesCRS = srs != nil
    writing.skipsErrors = options.skipsErrors
    if options.dialect == .spatialConnect {
      writing.keyStore = targets.first?.store
      writing.spatialConnect = .init(
        store: targets.first?.store, client: options.client, createdAt: options.createdAt)
    }
    return writing
  }
}
