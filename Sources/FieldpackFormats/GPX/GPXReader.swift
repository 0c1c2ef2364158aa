public import FieldpackCore
import FieldpackGeometry

/// Reads GPX 1.0 and 1.1 as the layers `waypoints`, `routes`, `tracks`, `route_points` and
/// `track_points`.
///
/// Layers and columns have GDAL's names and order; only layers with features, and only columns with
/// a value, are there. `track_fid` and `route_fid` are the numbers of the feature in `tracks` and
/// `routes`, from 1, which are its feature ids in a new layer; segments and points count from 0.
///
/// - Z is `ele` where every vertex of the geometry has it, M the `time` in Unix seconds likewise;
///   GPX times are UTC where they name no zone. Empty segments are kept out of the geometry.
/// - A column that holds values which are not of the schema's type is TEXT.
/// - Leaves of `extensions` are columns named `prefix_local`, the first of equal ones; the element
///   itself is in `extensions`, written anew with its namespaces. Foreign elements of GPX 1.0
///   count as extensions. Extensions of segments are not read.
/// - `metadata`, or what GPX 1.0 has in its place, is ``FileReadResult/gpxMetadata``, without bounds.
/// - A `wpt` inside of a track or route is a waypoint.
/// - A point without a position on Earth is an error with its line and its number in the layer.
///
/// Memory grows with the longest track, 32 bytes a vertex, not with the file.
public struct GPXReader: FileReader {
  private let input: ByteInput
  private let options: ReadOptions
  /// How many tracks and routes the layers have before the file is added; `track_fid` and
  /// `route_fid` count from there.
  private var pathsBefore = (tracks: 0, routes: 0)
  /// How many tracks and routes the file has, in layers that are not read too. Known when the file
  /// has been read.
  public private(set) var pathsRead = (tracks: 0, routes: 0)
  /// The columns of points that hold the number of their track or route.
  package static let pathColumns = (
    tracks: GPXField.trackFID.columnName, routes: GPXField.routeFID.columnName
  )
  /// The layers that a file may have, for ``ReadOptions/only``.
  public static let layerNames = GPXLayerKind.allCases.map(\.name)
  /// How much of a file is looked at to guess its layers.
  static let headLength = 1 << 19

  public init(_ input: ByteInput, options: ReadOptions) {
    self.input = input
    self.options = options
  }

  public mutating func numberPaths(after before: (tracks: Int, routes: Int)) {
    pathsBefore = before
  }

  public mutating func assume() throws(FieldpackError) -> [FileLayer] {
    try input.check(options, numbers: "GPX features are numbered")
    let head = try input.head(input.room(upTo: Self.headLength))
    var document = document(asking: [])
    try withUnsafeMutablePointer(to: &document) { (document) throws(FieldpackError) in
      let parser = try XMLPushParser(file: input.name, handler: GPXHandler(document))
      do throws(FieldpackError) {
        try Self.push(head, into: parser)
        if head.count == input.size { try parser.finish() }
      } catch  where parser.isBroken {
        return try document.pointee.breakOff(at: error)
      }
      if head.count < input.size { document.pointee.closeOpenFeatures() }
    }
    return document.found
  }

  public mutating func read(
    as layers: [FileLayer], into sink: inout some FeatureSink
  ) throws(FieldpackError) -> FileReadResult {
    try input.check(options, numbers: "GPX features are numbered")
    for layer in layers { try sink.begin(layer.schema) }
    var announced = layers.last?.schema.layer
    var document = document(asking: layers)
    try withUnsafeMutablePointer(to: &document) { (document) throws(FieldpackError) in
      let parser = try XMLPushParser(file: input.name, handler: GPXHandler(document))
      var buffer = [UInt8](repeating: 0, count: input.room(upTo: 1 << 17))
      var bytesRead = 0
      input.rewind()
      while true {
        let count = try fill(&buffer)
        do throws(FieldpackError) {
          try Self.push(buffer[..<count], into: parser)
          if count == 0 { try parser.finish() }
        } catch  where parser.isBroken {
          return try document.pointee.breakOff(at: error)
        }
        guard count > 0 else { break }
        try document.pointee.drain(&announced, into: &sink)
        bytesRead += count
        try options.progress?(bytesRead)
      }
    }
    try document.drain(&announced, into: &sink)
    pathsRead = document.pathsRead
    return document.result
  }

  private func document(asking layers: [FileLayer]) -> GPXDocument {
    var document = GPXDocument(options: options) { kind in
      let name = LayerID(
        options.prefixesLayers ? "\(options.layer)_\(kind.name)" : kind.name)
      return GPXLayerBuilder(
        kind: kind, layer: name, asked: layers.first { $0.schema.layer == name }?.schema)
    }
    document.pathsBefore = pathsBefore
    return document
  }

  private func fill(_ buffer: inout [UInt8]) throws(FieldpackError) -> Int {
    var result: Result<Int, FieldpackError> = .success(0)
    buffer.withUnsafeMutableBytes { bytes in
      result = Result { () throws(FieldpackError) in try input.read(into: bytes) }
    }
    return try result.get()
  }

  private static func push(
    _ bytes: some Collection<UInt8>, into parser: XMLPushParser
  ) throws(FieldpackError) {
    var failure: FieldpackError?
    _ = bytes.withContiguousStorageIfAvailable { bytes in
      do throws(FieldpackError) {
        try parser.push(UnsafeRawBufferPointer(bytes))
      } catch { failure = error }
    }
    if let failure { throw failure }
  }
}
