import FieldpackCore
import FieldpackGeometry
import FuzzSupport

@testable import FieldpackFormats

/// Readers of files: where a read ends changes nothing, and what is written of what was read is
/// read the same.
enum FileTargets {
  private nonisolated(unsafe) static let file = InputFile()
  private nonisolated(unsafe) static let written = InputFile()

  static let geoJSON: FuzzTarget = { input in
    let reading = check(input) { source, options, isCut in
      var reader = GeoJSONReader(source, options: options)
      // The least there is, so that borders fall into every kind of token.
      if isCut { reader.limits.window = 64 }
      return reader
    }
    _ = try? GeoJSONFeatures.read(input)
    _ = try? Geometry(geoJSON: input)
    checkWriting(input, reading, GeoJSONReader.init, { GeoJSONWriter($0) })
  }

  static let csv: FuzzTarget = { input in
    let reading = check(input) { source, options, _ in CSVReader(source, options: options) }
    checkWriting(input, reading, CSVReader.init, { CSVWriter($0) })
  }

  static let gpx: FuzzTarget = { input in
    let reading = check(input) { source, options, _ in GPXReader(source, options: options) }
    checkWriting(input, reading, GPXReader.init, { GPXWriter($0) })
  }

  static let nmea = logTarget(.nmea)
  static let igc = logTarget(.igc)
  static let tcx = logTarget(.tcx)

  private nonisolated(unsafe) static let index = InputFile()
  private nonisolated(unsafe) static let table = InputFile()

  /// The first four bytes say how long the `.shp` and the `.shx` behind them are; the rest is the
  /// `.dbf`.
  static let shapefile: FuzzTarget = { input in
    guard input.count >= 4 else { return }
    let lengths = [0, 2].map { Int(input[$0]) | Int(input[$0 + 1]) << 8 }
    let rest = input.dropFirst(4)
    let shapes = Array(rest.prefix(lengths[0]))
    let index = Array(rest.dropFirst(lengths[0]).prefix(lengths[1]))
    let table = Array(rest.dropFirst(lengths[0] + lengths[1]))
    _ = check(input) { source, options, _ in
      ShapefileReader(source, options: options, identify: { _ in (nil, nil) }) { _ in
        ShapefileSet(
          stem: "test",
          files: [
            .shapes: Self.file.holding(shapes), .index: Self.index.holding(index),
            .table: Self.table.holding(table),
          ])
      }
    }
  }

  private static func logTarget(_ kind: TrackLogReader.Kind) -> FuzzTarget {
    { input in
      _ = check(input) { source, options, _ in
        TrackLogReader(source, kind: kind, options: options)
      }
    }
  }

  // MARK: Properties

  /// Half of the inputs, by their length, are read past errors.
  private static func options(for input: [UInt8]) -> ReadOptions {
    var options = ReadOptions(layer: "layer")
    options.skipsErrors = input.count & 1 == 1
    return options
  }

  /// The same rows, or the same error, come of whole reads and of short ones.
  private static func check<Reader: FileReader>(
    _ input: [UInt8], _ reader: (ByteInput, ReadOptions, _ isCut: Bool) -> Reader
  ) -> Reading {
    let options = options(for: input)
    let source = file.holding(input)
    let whole = Reading(reader(source, options, false), byteCount: input.count)
    // The last byte of a text says little, so that it may choose.
    let cut = withReads(of: 1 + Int(input.last ?? 0) % 61) {
      Reading(reader(source, options, true), byteCount: input.count)
    }
    require(whole == cut, "the reads change what is read:\n\(whole)\n\(cut)")
    return whole
  }

  /// What was read is written, and comes back as the same rows the next time.
  private static func checkWriting<Reader: FileReader, Writer: FeatureTextWriter>(
    _ input: [UInt8], _ reading: Reading, _ reader: (ByteInput, ReadOptions) -> Reader,
    _ writer: (ByteOutput) -> Writer
  ) {
    guard reading.failure == nil, reading.counts.contains(where: { $0.value > 0 }) else { return }
    let options = options(for: input)
    let first = write(reader(file.holding(input), options), as: reading.layers, writer)
    guard let first else { return }
    let strict = ReadOptions(layer: "layer")
    let source = written.holding(first)
    let second = Reading(reader(source, strict), byteCount: first.count)
    require(second.failure == nil, "what is written is not read: \(second)\n\(shown(first))")
    // The points of a track that was skipped make a track when they are written.
    var (before, after) = (reading.counts, second.counts)
    if let skipped = reading.skipped, skipped.count > 0 {
      before["tracks"] = nil
      after["tracks"] = nil
    }
    require(before == after, "\(reading.counts), \(second.counts)\n\(shown(first))")
    guard let again = write(reader(source, strict), as: second.layers, writer) else {
      fatalError("what was read back is not written:\n\(shown(first))")
    }
    require(first == again, "written again it differs:\n\(shown(first))\n\(shown(again))")
  }

  private static func shown(_ text: [UInt8]) -> String {
    String(decoding: text, as: UTF8.self).debugDescription
  }

  /// The text of what `reader` gives; `nil` where the format has no place for it.
  private static func write<Writer: FeatureTextWriter>(
    _ reader: some FileReader, as layers: [FileLayer], _ writer: (ByteOutput) -> Writer
  ) -> [UInt8]? {
    let output = ByteOutput()
    var (reader, writer) = (reader, writer(output))
    do throws(FieldpackError) {
      _ = try reader.read(as: layers, into: &writer)
      try writer.finish()
      return output.buffer
    } catch {
      require([.unsupported, .invalidData].contains(error.code), "it is not written: \(error)")
      return nil
    }
  }
}
