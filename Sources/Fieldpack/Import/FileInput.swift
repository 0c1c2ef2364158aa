import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// A file with the reader of its format.
enum FileInput {
  case geoJSON(GeoJSONReader)
  case gpx(GPXReader)
  case csv(CSVReader)

  init(_ input: ByteInput, format: Format, options: ReadOptions) throws(FieldpackError) {
    switch format {
    case .geoJSON, .geoJSONSequence: self = .geoJSON(GeoJSONReader(input, options: options))
    case .gpx: self = .gpx(GPXReader(input, options: options))
    case .csv: self = .csv(CSVReader(input, options: options))
    default:
      throw FieldpackError(
        .unsupported, "\(input.name) is a \(format) file, which cannot be imported",
        position: FilePosition(file: input.name))
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
    }
  }
}
