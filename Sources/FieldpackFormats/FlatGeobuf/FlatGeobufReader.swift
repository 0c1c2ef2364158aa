public import FieldpackCore
package import FieldpackGeometry

/// Reads FlatGeobuf of version 3 as one layer.
///
/// - The header tells the geometry type, the columns and the reference system; without an EPSG code
///   the system is undefined.
/// - A column of moments is DATETIME where each value has a zone, DATE where all are days, else TEXT
///   unchanged. Unsigned integers of 64 bits are REAL where one of them is beyond INTEGER.
/// - A column `fid` of distinct integers gives the feature ids; other files have none.
/// - Columns that only features state are columns of the layer.
/// - Nothing in a file is trusted: each offset and count is checked before it is followed.
public struct FlatGeobufReader: FileReader {
  private let input: ByteInput
  private let options: ReadOptions
  /// Reads only the features whose boxes in the index touch one of these, in the file's system.
  package var boxes: [Envelope]?
  /// How much of a file is looked at where its header does not tell the columns.
  private static let headLength = 1 << 20
  /// Bytes between two calls of the progress.
  private static let stride = 1 << 18

  public init(_ input: ByteInput, options: ReadOptions) {
    self.input = input
    self.options = options
  }

  public mutating func assume() throws(FieldpackError) -> [FileLayer] {
    var file = try FlatGeobufFile(input)
    var builder = try FlatGeobufLayerBuilder(file.header, options: options, asked: nil)
    guard builder.needsFeatures else { return [builder.found] }
    var number = 0
    while file.offset - file.featureStart < Self.headLength,
      let bytes = try next(&file, after: number)
    {
      number += 1
      do throws(FieldpackError) {
        try builder.take(bytes)
      } catch {
        guard options.skipsErrors else { throw located(error, number) }
      }
    }
    return [builder.found]
  }

  public mutating func read(
    as layers: [FileLayer], into sink: inout some FeatureSink
  ) throws(FieldpackError) -> FileReadResult {
    var file = try FlatGeobufFile(input)
    let asked = layers.first { $0.schema.layer == options.layer }
    for layer in layers { try sink.begin(layer.schema) }
    if let asked, layers.last != asked { try sink.begin(asked.schema) }
    var builder = try FlatGeobufLayerBuilder(file.header, options: options, asked: asked)
    var result = FileReadResult(
      layers: [], skipped: SkippedFeatures(limit: options.skippedLimit))
    var number = 0
    var told = 0
    while let bytes = try next(&file, after: number) {
      number += 1
      do throws(FieldpackError) {
        try builder.take(bytes)
      } catch {
        guard options.skipsErrors else { throw located(error, number) }
        let error = located(error, number)
        result.skipped.add(SkippedFeature(error, position: error.position))
        continue
      }
      if builder.rows.count > 0 {
        builder.rows.select(0)
        try sink.feature(builder.rows)
      }
      builder.rows.removeRows()
      if file.offset - told >= Self.stride {
        told = file.offset
        try options.progress?(told)
      }
    }
    result.layers = [builder.found]
    result.counts = [options.layer: builder.count]
    result.notes = builder.remarks
    return result
  }

  /// The feature behind the first `number`; `nil` behind the last one.
  private func next(
    _ file: inout FlatGeobufFile, after number: Int
  ) throws(FieldpackError) -> UnsafeRawBufferPointer? {
    let count = file.header.featureCount
    guard count == 0 || number < count else { return nil }
    do throws(FieldpackError) {
      if let bytes = try file.nextFeature() { return bytes }
    } catch {
      throw located(error, number + 1)
    }
    guard count == 0 else {
      throw located(
        FieldpackError(.invalidData, "the file ends after \(number) of \(count) features"),
        number + 1)
    }
    return nil
  }

  private func located(_ error: FieldpackError, _ number: Int) -> FieldpackError {
    error.adding(
      location: .init(layer: options.layer),
      position: FilePosition(file: input.name, feature: number))
  }
}
