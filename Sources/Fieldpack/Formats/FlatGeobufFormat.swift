import FieldpackCore
import FieldpackFormats

extension Format {
  public static let flatGeobuf = Format(FlatGeobufFormat())
}

private struct FlatGeobufFormat: ImportedFormat, StreamedFormat {
  let name = "fgb"
  let title = "FlatGeobuf"
  let extensions = ["fgb"]
  let holdsLayers = false
  let srsRule = SRSRule.ofEachLayer

  func recognition(of head: FileHead) -> Recognition {
    head.bytes.starts(with: Array("fgb".utf8))
      && head.bytes.dropFirst(4).starts(with: Array("fgb".utf8))
      ? .certain : .none
  }

  func index(of input: ByteInput) throws(FieldpackError) -> FlatGeobufIndex? {
    try FlatGeobufIndex(input)
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> FlatGeobufReader {
    FlatGeobufReader(input, options: options)
  }

  func describe(
    _ targets: inout [ExportTarget], of run: ExportRun
  ) async throws(FieldpackError) -> [Note] {
    try await run.describe(&targets)
    return []
  }

  func writer(
    _ plan: ExportPlan, to place: ExportPlace
  ) throws(FieldpackError) -> FlatGeobufExport {
    try FlatGeobufExport(plan, to: place)
  }
}
