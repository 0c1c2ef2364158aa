public import FieldpackCore

/// A file format that features are read from or written to.
public struct Format: Hashable, Sendable, CustomStringConvertible {
  public let name: String
  /// The extensions of such files, the usual one first.
  public let extensions: [String]
  /// Whether one file holds several layers.
  public let holdsLayers: Bool

  public var description: String { name }

  public static let geoJSON = Format(
    name: "geojson", extensions: ["geojson", "json"], holdsLayers: false)
  /// One feature a line (or after a record separator, RFC 8142).
  public static let geoJSONSequence = Format(
    name: "geojsonl", extensions: ["geojsonl", "geojsons", "ndjson", "ndgeojson"],
    holdsLayers: false)
  public static let gpx = Format(
    name: "gpx", extensions: ["gpx"], holdsLayers: true)
  public static let csv = Format(
    name: "csv", extensions: ["csv", "tsv"], holdsLayers: false)
  public static let geoPackage = Format(
    name: "gpkg", extensions: ["gpkg"], holdsLayers: true)
  /// NMEA 0183 sentences; their fixes are a track.
  public static let nmea = Format(name: "nmea", extensions: ["nmea", "nma"], holdsLayers: true)
  /// The log of a flight recorder.
  public static let igc = Format(name: "igc", extensions: ["igc"], holdsLayers: true)
  /// Garmin's Training Center XML.
  public static let tcx = Format(name: "tcx", extensions: ["tcx"], holdsLayers: true)
  /// The formats that can be written. All of them can be read as well.
  public static let written: [Format] = [.geoJSON, .geoJSONSequence, .gpx, .csv, .geoPackage]
  public static let all: [Format] = written + [.nmea, .igc, .tcx]

  /// The format of that name, such as `geojson`.
  public static func named(_ name: String) -> Format? {
    all.first { $0.name == name.lowercased() }
  }

  /// The format that a file's extension names.
  public static func byExtension(_ path: String) -> Format? {
    let suffix = fileExtension(path)
    return all.first { $0.extensions.contains(suffix) }
  }

  static func fileExtension(_ path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
    return name[name.index(after: dot)...].lowercased()
  }

  /// The format of a file, detected from its first bytes, else from its extension.
  ///
  /// - Throws: `.unsupported` for formats that are known and not read, naming a converter.
  public static func detect(path: String, head: [UInt8]) throws(FieldpackError) -> Format {
    if head.starts(with: Array("SQLite format 3\0".utf8)) { return .geoPackage }
    if let known = unreadable(path: path, head: head) { throw known }
    let text = head.drop { $0 == 0xEF || $0 == 0xBB || $0 == 0xBF || $0 <= 32 && $0 != 0x1E }
    switch text.first {
    case 0x1E?: return .geoJSONSequence
    case UInt8(ascii: "{")?, UInt8(ascii: "[")?:
      return byExtension(path) == .geoJSONSequence ? .geoJSONSequence : .geoJSON
    case UInt8(ascii: "<")?: return isTrainingCenter(text) ? .tcx : .gpx
    case UInt8(ascii: "$")? where isSentence(text): return .nmea
    case UInt8(ascii: "A")? where isFlightRecord(text): return .igc
    default: break
    }
    if let format = byExtension(path) { return format }
    if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) { return .gpx }
    throw FieldpackError(
      .unsupported, "the format of \(path) is not known", advice: .nameFormat(of: .file),
      position: FilePosition(file: path))
  }

  private static func isTrainingCenter(_ text: ArraySlice<UInt8>) -> Bool {
    String(decoding: text, as: UTF8.self).contains("<TrainingCenterDatabase")
  }

  /// `$`, a talker and a type of five letters or digits in all, and a comma.
  private static func isSentence(_ text: ArraySlice<UInt8>) -> Bool {
    let name = text.dropFirst().prefix { $0 != UInt8(ascii: ",") }
    return name.count == 5 && text.count > 6 && name.allSatisfy(isCode)
  }

  /// An A record with a recorder's code, and an H record in one of the next lines.
  private static func isFlightRecord(_ text: ArraySlice<UInt8>) -> Bool {
    let lines = text.split(maxSplits: 32) { $0 == 0x0A || $0 == 0x0D }
    guard let first = lines.first, first.count >= 4, first.dropFirst().prefix(3).allSatisfy(isCode)
    else { return false }
    return lines.contains { $0.starts(with: Array("HFDTE".utf8)) }
  }

  private static func isCode(_ byte: UInt8) -> Bool {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  private static func unreadable(path: String, head: [UInt8]) -> FieldpackError? {
    let start = String(decoding: head.prefix(512), as: UTF8.self).lowercased()
    let name: String? =
      if fileExtension(path) == "shp" || head.starts(with: [0, 0, 0x27, 0x0A]) {
        "a shapefile"
      } else if head.starts(with: Array("fgb".utf8)) {
        "a FlatGeobuf file"
      } else if start.contains("<kml") || fileExtension(path) == "kmz" {
        "a KML file"
      } else {
        nil
      }
    guard let name else { return nil }
    return FieldpackError(
      .unsupported,
      "\(path) is \(name), which is not read. Try: ogr2ogr -f GPKG out.gpkg \(path)",
      position: FilePosition(file: path))
  }
}
