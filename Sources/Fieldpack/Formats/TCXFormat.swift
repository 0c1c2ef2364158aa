import FieldpackCore
import FieldpackFormats

extension Format {
  /// Garmin's Training Center XML.
  public static let tcx = Format(TCXFormat())
}

private struct TCXFormat: ImportedFormat {
  let name = "tcx"
  let title = "TCX"
  let extensions = ["tcx"]
  let holdsLayers = true

  func recognition(of head: FileHead) -> Recognition {
    head.begins(with: "<") && head.contains("<TrainingCenterDatabase") ? .certain : .none
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> TrackLogReader {
    TrackLogReader(input, kind: .tcx, options: options)
  }
}
