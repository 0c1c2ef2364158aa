import FieldpackCore
import FieldpackFormats

extension Format {
  /// Keyhole Markup Language.
  public static let kml = Format(KMLFormat())
}

private struct KMLFormat: ImportedFormat, StreamedFormat {
  let name = "kml"
  let title = "KML"
  let extensions = ["kml"]
  let holdsLayers = true
  let srsRule = SRSRule.onlyWGS84

  /// XML that names KML; other XML is GPX's, which says what it is.
  func recognition(of head: FileHead) -> Recognition {
    guard head.begins(with: "<") else { return .none }
    let marks = ["<kml", ":kml ", "earth.google.com/kml", "opengis.net/kml"]
    return head.fileExtension == "kml" || marks.contains(where: head.contains) ? .certain : .none
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> KMLReader {
    KMLReader(input, options: options)
  }

  func writer(
    _ plan: ExportPlan, to place: ExportPlace
  ) throws(FieldpackError) -> TextFile<KMLWriter> {
    try TextFile(place, plan.options) {
      KMLWriter($0, options: KMLWriter.Options(plan.options))
    }
  }
}

extension KMLWriter.Options {
  init(_ options: ExportOptions) {
    self.init()
    skipsErrors = options.skipsErrors
  }
}
