import FieldpackArchive
public import FieldpackCore

/// A file format that features are read from or written to.
public struct Format: Hashable, Sendable, CustomStringConvertible {
  /// What the format is.
  let file: any FileFormat

  init(_ file: any FileFormat) { self.file = file }

  public static let all: [Format] = [
    .geoJSON, .geoJSONSequence, .gpx, .kml, .kmz, .csv, .shapefile, .flatGeobuf, .geoPackage, .nmea,
    .igc, .tcx, .svg, .html,
  ]
  /// The formats of files that can be the source of features.
  public static let read: [Format] = all.filter(\.file.isRead)
  /// The formats that are written.
  public static let written: [Format] = all.filter { $0.file.exported != nil }
  /// The formats that are imported into GeoPackages.
  package static let imported: [Format] = all.filter { $0.file.imported != nil }

  public var name: String { file.name }
  /// The extensions of such files, the usual one first.
  public var extensions: [String] { file.extensions }
  /// Whether one file holds several layers.
  public var holdsLayers: Bool { file.holdsLayers }
  /// What people call it.
  package var title: String { file.title }

  public var description: String { name }

  public static func == (a: Format, b: Format) -> Bool { a.name == b.name }
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }

  // MARK: Finding

  /// The format of that name, such as `geojson`.
  public static func named(_ name: String) -> Format? {
    all.first { $0.name == name.lowercased() }
  }

  /// The format that a file's extension names.
  public static func byExtension(_ path: String) -> Format? {
    let suffix = fileExtension(path)
    return all.first { $0.extensions.contains(suffix) }
  }

  /// The name that a file has when gzip has unpacked it.
  static func unpackedName(_ path: String) -> String {
    fileExtension(path) == "gz" ? String(path.dropLast(3)) : path
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
    let head = FileHead(path: path, bytes: head)
    var (found, recognition): (Format?, Recognition) = (nil, .none)
    for format in read {
      let isNamed = format.extensions.contains(head.fileExtension)
      let own = max(format.file.recognition(of: head), isNamed ? .named : .none)
      if own > recognition { (found, recognition) = (format, own) }
    }
    if head.isMBTiles {
      throw FieldpackError(
        .unsupported, "\(path) is an MBTiles file: it holds tiles and no features",
        advice: .importIntoGeoPackage, position: FilePosition(file: path))
    }
    if recognition < .certain, let known = unreadable(path: path, head) { throw known }
    if let found { return found }
    throw FieldpackError(
      .unsupported, "the format of \(path) is not known", advice: .nameFormat(of: .file),
      position: FilePosition(file: path))
  }

  /// The format of a file, or of what gzip has packed in it.
  package static func detect(_ input: ByteInput) throws(FieldpackError) -> Format {
    let head = try input.unpackedHead(4096)
    let format = try detect(path: input.name, head: head)
    guard format == .geoPackage, try input.head(16) != Array(head.prefix(16)) else { return format }
    throw FieldpackError(
      .unsupported, "\(input.name) is a GeoPackage that gzip has packed; unpack it first",
      position: FilePosition(file: input.name))
  }

  /// Whether a file holds messages of OwnTracks, a line each, which are read as positions and not
  /// imported.
  package static func isOwnTracks(path: String) -> Bool {
    guard let head = try? ByteInput(path: path).head(4096) else { return false }
    return FileHead(path: path, bytes: head).isOwnTracks
  }

  private static func unreadable(path: String, _ head: FileHead) -> FieldpackError? {
    if head.isOwnTracks {
      return FieldpackError(
        .unsupported, "\(path) holds messages of OwnTracks, which are positions and no features",
        advice: .recordTrack, position: FilePosition(file: path))
    }
    let start = String(decoding: head.bytes.prefix(512), as: UTF8.self).lowercased()
    let name: String? =
      if head.bytes.starts(with: Array("PAR1".utf8)) {
        "a Parquet file"
      } else if head.begins(with: "<") && start.contains("opengis.net/gml") {
        "a GML file"
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
