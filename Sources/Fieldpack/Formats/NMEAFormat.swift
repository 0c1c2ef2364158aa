import FieldpackCore
import FieldpackFormats

extension Format {
  /// NMEA 0183 sentences; their fixes are a track.
  public static let nmea = Format(NMEAFormat())
}

private struct NMEAFormat: ImportedFormat {
  let name = "nmea"
  let title = "NMEA"
  let extensions = ["nmea", "nma"]
  let holdsLayers = true

  /// `$`, a talker and a type of five letters or digits in all, and a comma.
  func recognition(of head: FileHead) -> Recognition {
    let name = head.text.dropFirst().prefix { $0 != UInt8(ascii: ",") }
    let isSentence = head.begins(with: "$") && name.count == 5 && head.text.count > 6
    return isSentence && name.allSatisfy(FileHead.isCode) ? .likely : .none
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> TrackLogReader {
    TrackLogReader(input, kind: .nmea, options: options)
  }
}
