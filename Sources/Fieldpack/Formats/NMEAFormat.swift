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

  /// `$`, a talker and a type of five letters or digits in all, and a comma. A sentence of a maker,
  /// `$P…`, has to have a checksum: a column of a table may be called `$PRICE`.
  func recognition(of head: FileHead) -> Recognition {
    let line = head.text.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    let name = line.dropFirst().prefix { $0 != UInt8(ascii: ",") }
    let isSentence = head.begins(with: "$") && name.count == 5 && line.count > 6
    guard isSentence, name.allSatisfy(FileHead.isCode) else { return .none }
    let hasChecksum = line.suffix(3).first == UInt8(ascii: "*")
    return name.first != UInt8(ascii: "P") || hasChecksum ? .likely : .none
  }

  func reader(_ input: ByteInput, options: ReadOptions) -> TrackLogReader {
    TrackLogReader(input, kind: .nmea, options: options)
  }
}
