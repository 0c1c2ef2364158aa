import FieldpackCore
import FieldpackFormats

extension Format {
  public static let gpx = Format(GPXFormat())
}

private struct GPXFormat: ImportedFormat, StreamedFormat {
  let name = "gpx"
  let title = "GPX"
  let extensions = ["gpx"]
  let holdsLayers = true
  let srsRule = SRSRule.onlyWGS84

  /// Any XML, since the reader says what else it is; a text in UTF-16 is XML where nothing else tells.
  func recognition(of head: FileHead) -> Recognition {
    if head.begins(with: "<") { return .likely }
    let isUTF16 = head.bytes.starts(with: [0xFF, 0xFE]) || head.bytes.starts(with: [0xFE, 0xFF])
    return isUTF16 ? .possible : .none
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> GPXReader {
    GPXReader(input, options: options)
  }

  func writer(
    _ plan: ExportPlan, to place: ExportPlace
  ) throws(FieldpackError) -> TextFile<GPXWriter> {
    var options = GPXWriter.Options()
    options.dialect = plan.options.gpxDialect
    options.skipsErrors = plan.options.skipsErrors
    return try TextFile(place, plan.options, takesPieces: options.dialect == .gpx11) {
      GPXWriter($0, options: options)
    }
  }
}
