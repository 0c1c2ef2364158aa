import FieldpackCore
import FieldpackFormats

extension Format {
  /// The log of a flight recorder.
  public static let igc = Format(IGCFormat())
}

private struct IGCFormat: ImportedFormat {
  let name = "igc"
  let title = "IGC"
  let extensions = ["igc"]
  let holdsLayers = true

  /// An A record with a recorder's code, and an H record in one of the next lines.
  func recognition(of head: FileHead) -> Recognition {
    guard head.begins(with: "A") else { return .none }
    let lines = head.text.split(maxSplits: 32) { $0 == 0x0A || $0 == 0x0D }
    guard let first = lines.first, first.count >= 4,
      first.dropFirst().prefix(3).allSatisfy(FileHead.isCode)
    else { return .none }
    return lines.contains { $0.starts(with: Array("HFDTE".utf8)) } ? .likely : .none
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> TrackLogReader {
    TrackLogReader(input, kind: .igc, options: options)
  }
}
