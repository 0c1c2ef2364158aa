import FieldpackCore
import FieldpackFormats

extension Format {
  public static let csv = Format(CSVFormat())
}

private struct CSVFormat: ImportedFormat, StreamedFormat {
  let name = "csv"
  let title = "CSV"
  let extensions = ["csv", "tsv"]
  let holdsLayers = false
  let holdsKeys = true
  let srsRule = SRSRule.ofEachLayer

  func reader(_ input: ByteInput, options: ReadOptions) -> CSVReader {
    CSVReader(input, options: options)
  }

  func writer(
    _ plan: ExportPlan, to place: ExportPlace
  ) throws(FieldpackError) -> TextFile<CSVWriter> {
    var options = CSVWriter.Options()
    options.keyStore = plan.keyStore
    options.decimals = plan.options.decimals
    options.skipsErrors = plan.options.skipsErrors
    return try TextFile(place, plan.options) { CSVWriter($0, options: options) }
  }
}
