import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage

/// A file with the reader of its format.
enum FileInput {
  case geoJSON(GeoJSONReader)
  case gpx(GPXReader)
  case csv(CSVReader)
  case log(TrackLogReader)

  init(_ input: ByteInput, format: Format, options: ReadOptions) throws(FieldpackError) {
    switch format {
    case .geoJSON, .geoJSONSequence: self = .geoJSON(GeoJSONReader(input, options: options))
    case .gpx: self = .gpx(GPXReader(input, options: options))
    case .csv: self = .csv(CSVReader(input, options: options))
    case .nmea: self = .log(TrackLogReader(input, kind: .nmea, options: options))
    case .igc: self = .log(TrackLogReader(input, kind: .igc, options: options))
    case .tcx: self = .log(TrackLogReader(input, kind: .tcx, options: options))
    default:
      throw FieldpackError(
        .unsupported,
        "\(input.name) is a \(format) file, which cannot be imported",
        advice: .exportFirst(file: input.name),
        position: FilePosition(file: input.name))
    }
  }
}

extension FileInput {
  /// Lets the tracks and routes of a file count on from those that are stored, or from `others`
  /// where only their points are.
  mutating func numberPaths(
    after loader: BulkLoader, in layers: [FileLayer], others: (tracks: Int, routes: Int)
  ) {
    func last(_ suffix: String, _ other: Int) -> Int {
      let layer = layers.map(\.schema.layer).first { $0.rawValue.hasSuffix(suffix) }
      return layer.map { Int(clamping: loader.lastID(of: $0)) } ?? other
    }
    switch self {
    case .gpx(var reader):
      reader.pathsBefore = (last("tracks", others.tracks), last("routes", others.routes))
      self = .gpx(reader)
    case .log(var reader):
      reader.tracksBefore = last("tracks", others.tracks)
      self = .log(reader)
    case .geoJSON, .csv: break
    }
  }

  /// Tracks and routes of a file that has been read.
  var pathsRead: (tracks: Int, routes: Int) {
    switch self {
    case .gpx(let reader): reader.pathsRead
    case .log(let reader): (reader.tracksRead, 0)
    case .geoJSON, .csv: (0, 0)
    }
  }
}

extension FileInput: FileReader {
  mutating func assume() throws(FieldpackError) -> [FileLayer] {
    switch self {
    case .geoJSON(var reader):
      defer { self = .geoJSON(reader) }
      return try reader.assume()
    case .gpx(var reader):
      defer { self = .gpx(reader) }
      return try reader.assume()
    case .csv(var reader):
      defer { self = .csv(reader) }
      return try reader.assume()
    case .log(var reader):
      defer { self = .log(reader) }
      return try reader.assume()
    }
  }

  mutating func read(
    as layers: [FileLayer], into sink: inout some FeatureSink
  ) throws(FieldpackError) -> FileReadResult {
    switch self {
    case .geoJSON(var reader):
      defer { self = .geoJSON(reader) }
      return try reader.read(as: layers, into: &sink)
    case .gpx(var reader):
      defer { self = .gpx(reader) }
      return try reader.read(as: layers, into: &sink)
    case .csv(var reader):
      defer { self = .csv(reader) }
      return try reader.read(as: layers, into: &sink)
    case .log(var reader):
      defer { self = .log(reader) }
      return try reader.read(as: layers, into: &sink)
    }
  }
}
