import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackRTree

/// Writes a layer as FlatGeobuf with an index: the features wait in a temporary file until all are
/// known, and then follow each other along a Hilbert curve.
final class FlatGeobufExport: FormatWriter {
  /// A feature in the temporary file.
  private struct Waiting: BitwiseCopyable {
    var place: FlatGeobufEncoder.Place
    var offset: Int

    var envelope: Envelope {
      Envelope(minX: place.minX, minY: place.minY, maxX: place.maxX, maxY: place.maxY)
    }
  }

  private let place: ExportPlace
  private let options: ExportOptions
  private let features = SpillFile()
  private var waiting = SpillSort<Waiting>(limit: 1 << 20, folder: nil)
  private var target: ExportTarget?
  private var writesIDs = false
  private var encoding: FlatGeobufEncoder?
  private var traits = FlatGeobufEncoder.Traits()
  private var bounds = Envelope.empty
  private let isStopped = Locked(false)
  private(set) var skipped = SkippedFeatures()

  /// - Throws: `.cannotCreate` for a file that exists and may not be replaced.
  init(_ plan: ExportPlan, to place: ExportPlace) throws(FieldpackError) {
    (self.place, options) = (place, plan.options)
    output =
      switch place {
      case .path(let path): try ByteOutput(replacing: path, overwrite: options.overwrite)
      case .output(let output): output
      }
  }

  private let output: ByteOutput

  var interrupt: (@Sendable () -> Void)? {
    let isStopped = isStopped
    return { isStopped.withLock { $0 = true } }
  }

  var notes: [String] {
    var notes: [String] = []
    if traits.emptyCount > 0 {
      notes.append(
        "FlatGeobuf has no empty geometries: \(traits.emptyCount) are written as none")
    }
    if traits.fillsOrdinates { notes.append("positions without z or m get 0") }
    if traits.dropsOrdinates {
      notes.append("z or m is left out where the layer does not declare it")
    }
    return notes
  }

  func begin(_ target: ExportTarget) throws(FieldpackError) {
    var target = target
    for index in target.schema.columns.indices {
      if let type = target.storedTypes[target.schema.columns[index].name] {
        target.schema.columns[index].type = type
      }
    }
    self.target = target
    writesIDs = !target.hasTextIDs && target.schema.columnIndex("fid") == nil
    encoding = FlatGeobufEncoder(
      target.schema, writesIDs: writesIDs, skipsErrors: options.skipsErrors)
  }

  func encoder(skipsErrors: Bool) throws(FieldpackError) -> FlatGeobufEncoder? { encoding }

  func write(_ batch: FeatureBatch) throws(FieldpackError) {
    guard var encoder = encoding else { return }
    encoding = nil
    defer { encoding = encoder }
    try batch.drive(&encoder)
    try take(from: &encoder)
  }

  func take(from encoder: inout FlatGeobufEncoder) throws(FieldpackError) {
    var offset = features.end
    var failure: FieldpackError?
    encoder.bytes.withUnsafeBytes { bytes in
      do throws(FieldpackError) { try features.append(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
    for place in encoder.places {
      let feature = Waiting(place: place, offset: offset)
      offset += place.length
      bounds.formUnion(feature.envelope)
      try waiting.append(feature)
    }
    traits.formUnion(encoder.traits)
    skipped.add(SkippedFeatures(encoder.skipped))
    failure = encoder.failure
    encoder.removeAll()
    if let failure { throw failure }
  }

  // MARK: The file

  func finish() throws(FieldpackError) -> [String] {
    guard let target else { return [] }
    let system = target.system
    let wkt = system.flatMap { $0.wkt2 ?? $0.definition }
    output.buffer += FlatGeobufHeader.bytes(
      of: target.schema, writesIDs: writesIDs, traits, count: waiting.count,
      bounds: bounds.isEmpty ? nil : bounds,
      system: (system?.name, wkt == "undefined" ? nil : wkt))
    let order = bounds.isEmpty ? nil : try writeIndex()
    try writeFeatures(in: order)
    if case .path = place { try output.finish() }
    return []
  }

  /// Writes the index.
  ///
  /// - Returns: the features in its order, as offset and length in the temporary file.
  private func writeIndex() throws(FieldpackError) -> SpillFile {
    let order = SpillFile()
    var pairs: [Int] = []
    var index = PackedIndexWriter(count: waiting.count)
    var written = 0
    let curve = Hilbert.Curve(over: bounds)
    let position = { (feature: Waiting) -> UInt64 in
      feature.place.isNowhere ? 0 : curve.position(of: RTreeEntry(0, feature.envelope))
    }
    try waiting.takeSorted(by: position) { (feature) throws(FieldpackError) in
      try index.append(feature.envelope, target: written)
      written += feature.place.length
      pairs += [feature.offset, feature.place.length]
      if pairs.count >= 1 << 14 { try Self.append(&pairs, to: order) }
    }
    try Self.append(&pairs, to: order)
    try check()
    try index.write(to: output)
    return order
  }

  private static func append(_ pairs: inout [Int], to file: SpillFile) throws(FieldpackError) {
    var failure: FieldpackError?
    pairs.withUnsafeBytes { bytes in
      do throws(FieldpackError) { try file.append(bytes) } catch { failure = error }
    }
    pairs.removeAll(keepingCapacity: true)
    if let failure { throw failure }
  }

  /// Writes the features in that order, else as they came.
  private func writeFeatures(in order: SpillFile?) throws(FieldpackError) {
    guard let order else { return try copy(0..<features.end) }
    var pairs = [Int](repeating: 0, count: 1 << 14)
    var run = 0..<0
    let size = MemoryLayout<Int>.size
    for start in stride(from: 0, to: order.end, by: pairs.count * size) {
      let count = min(pairs.count, (order.end - start) / size)
      var failure: FieldpackError?
      pairs.withUnsafeMutableBytes { bytes in
        do throws(FieldpackError) {
          try order.read(
            into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<(count * size)]), at: start)
        } catch { failure = error }
      }
      if let failure { throw failure }
      for index in stride(from: 0, to: count, by: 2) {
        // Features that follow each other in both files are copied at once.
        if pairs[index] == run.upperBound {
          run = run.lowerBound..<run.upperBound + pairs[index + 1]
        } else {
          try copy(run)
          run = pairs[index]..<pairs[index] + pairs[index + 1]
        }
      }
      try check()
    }
    try copy(run)
  }

  /// Copies bytes of the temporary file.
  private func copy(_ range: Range<Int>) throws(FieldpackError) {
    var next = range.lowerBound
    while next < range.upperBound {
      let count = min(1 << 18, range.upperBound - next)
      try output.append(count) { (room) throws(FieldpackError) in
        try features.read(into: room, at: next)
      }
      next += count
      try output.flushIfFull()
    }
  }

  private func check() throws(FieldpackError) {
    guard isStopped.withLock({ $0 }) else { return }
    throw FieldpackError(.interrupted, "interrupted; nothing was written")
  }
}

extension ByteOutput {
  /// Appends so many bytes, which `fill` sets.
  fileprivate func append(
    _ count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let start = buffer.count
    buffer.append(contentsOf: repeatElement(0, count: count))
    var failure: FieldpackError?
    buffer.withUnsafeMutableBytes { bytes in
      do throws(FieldpackError) {
        try fill(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
      } catch { failure = error }
    }
    if let failure { throw failure }
  }
}
