public import FieldpackCore

/// Reads FlatGeobuf of version 3 as one layer.
///
/// - The header tells the geometry type, the columns and the reference system; without an EPSG code
///   the system is undefined.
/// - A column of moments is DATETIME where each value has a zone, DATE where all are days, else TEXT
///   unchanged. Unsigned integers of 64 bits are REAL where one of them is beyond INTEGER.
/// - A column `fid` of distinct integers, whatever its case, gives the feature ids; other files have
///   none.
/// - Columns are NOT NULL, unique and of a width as the header says, where all values keep to it.
/// - Columns that only features state are columns of the layer.
/// - Nothing in a file is trusted: each offset and count is checked before it is followed.
public struct FlatGeobufReader: FileReader {
  private let input: ByteInput
  private let options: ReadOptions
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
    do throws(FieldpackError) {
      try readHead(&file, into: &builder)
    } catch {
      // What is wrong with features that nobody asked for is not told.
      guard options.boxes != nil else { throw error }
    }
    return [builder.found]
  }

  private func readHead(
    _ file: inout FlatGeobufFile, into builder: inout FlatGeobufLayerBuilder
  ) throws(FieldpackError) {
    var walk = FeatureWalk(file)
    while file.offset - file.featureStart < Self.headLength,
      let bytes = try next(&walk, &file)
    {
      do throws(FieldpackError) {
        try builder.take(bytes)
      } catch {
        guard options.skipsErrors else { throw located(error, walk) }
      }
    }
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
    var walk = FeatureWalk(file)
    if let boxes = options.boxes, let index = PackedIndex(of: file, input) {
      walk.offsets = try index.features(touching: boxes, limit: .max)
    }
    var told = 0
    while let bytes = try next(&walk, &file) {
      do throws(FieldpackError) {
        try builder.take(bytes)
      } catch {
        let error = located(error, walk)
        guard options.skipsErrors else { throw error }
        result.skipped.add(SkippedFeature(error, position: error.position))
        continue
      }
      if builder.rows.isFull { try builder.rows.give(to: &sink) }
      if file.offset - told >= Self.stride {
        told = file.offset
        try options.progress?(told)
      }
    }
    try builder.rows.give(to: &sink)
    result.layers = [builder.found]
    result.counts = [options.layer: builder.count]
    result.notes = builder.remarks
    return result
  }

  /// How far a file is read.
  private struct FeatureWalk {
    /// The features to read, by their offsets; `nil` for all.
    var offsets: [Int]?
    /// How many have been read.
    var number = 0
    /// Where the first feature lies in the file.
    let start: Int

    init(_ file: borrowing FlatGeobufFile) { start = file.featureStart }
  }

  /// The next feature to read; `nil` behind the last one.
  private func next(
    _ walk: inout FeatureWalk, _ file: inout FlatGeobufFile
  ) throws(FieldpackError) -> UnsafeRawBufferPointer? {
    let count = walk.offsets?.count ?? file.header.featureCount
    guard walk.offsets == nil && count == 0 || walk.number < count else { return nil }
    if let offset = walk.offsets?[walk.number] { file.move(toFeature: offset) }
    walk.number += 1
    do throws(FieldpackError) {
      if let bytes = try file.nextFeature() { return bytes }
      guard count > 0 else { return nil }
      throw FieldpackError(
        .invalidData,
        walk.offsets == nil
          ? "the file ends after \(walk.number - 1) of \(count) features"
          : "the index leads behind the end of the file")
    } catch {
      throw located(error, walk)
    }
  }

  private func located(_ error: FieldpackError, _ walk: FeatureWalk) -> FieldpackError {
    let offset = walk.offsets.map { walk.start + $0[walk.number - 1] }
    return error.adding(
      location: .init(layer: options.layer),
      position: FilePosition(
        file: input.name, byteOffset: offset.flatMap { $0 <= input.size ? $0 : nil },
        feature: walk.offsets == nil ? walk.number : nil))
  }
}
