public import FieldpackCore
import FieldpackGeometry

/// Reads KML 2.0 to 2.3 with Google's additions: each document and folder with features is a layer.
///
/// Layers and columns have the names of GDAL's driver LIBKML: `Name`, `description`, `timestamp`,
/// `begin`, `end`, `altitudeMode` and so on. Only layers with features, and only columns with a
/// value, are there. A folder without a name is `Layer` with its place in the folder that holds it.
///
/// - Z is the altitude where a position of the geometry has one, 0 for its other positions. M of a
///   `gx:Track` is the time in Unix seconds where each position has one.
/// - Extended data are columns: typed by their schema, else TEXT.
/// - Colours of styles, the feature's own before shared ones, are in `stroke`, `stroke-opacity`,
///   `stroke-width`, `fill`, `fill-opacity` and `marker-color`, as in Mapbox's simplestyle.
/// - A model is the point where it stands, a ground overlay the polygon that it covers. Other
///   overlays and network links are counted in notes; nothing is ever fetched.
/// - A placemark whose coordinates cannot be read is an error with its line.
public struct KMLReader: FileReader {
  private let input: ByteInput
  private let options: ReadOptions
  /// The styles of the whole file, where features name some that come behind them.
  private var styles = KMLStyles()
  /// How much of a file is looked at to guess its layers.
  static let headLength = 1 << 19

  public init(_ input: ByteInput, options: ReadOptions) {
    self.input = input
    self.options = options
  }

  public mutating func assume() throws(FieldpackError) -> [FileLayer] {
    try input.check(options, numbers: "KML features are numbered")
    let document = try parsedHead()
    guard document.withoutStyle > 0 else { return document.found }
    let whole = self.document(asking: [])
    try parse(whole) { (_) throws(FieldpackError) in }
    styles = whole.styles
    return try parsedHead().found
  }

  public mutating func read(
    as layers: [FileLayer], into sink: inout some FeatureSink
  ) throws(FieldpackError) -> FileReadResult {
    try input.check(options, numbers: "KML features are numbered")
    for layer in layers { try sink.begin(layer.schema) }
    var announced = layers.last?.schema.layer
    let document = document(asking: layers)
    try parse(document) { (bytesRead) throws(FieldpackError) in
      try document.drain(&announced, into: &sink)
      try options.progress?(bytesRead)
    }
    try document.drain(&announced, into: &sink)
    return document.result
  }

  private func document(asking layers: [FileLayer]) -> KMLDocument {
    KMLDocument(options: options, file: input.name, asked: layers, styles: styles)
  }

  private func parsedHead() throws(FieldpackError) -> KMLDocument {
    let document = document(asking: [])
    let parser = try XMLPushParser(file: input.name, handler: document)
    let head = try input.head(input.room(upTo: Self.headLength))
    var failure: FieldpackError?
    head.withUnsafeBytes { bytes in
      do throws(FieldpackError) { try parser.push(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
    if head.count == input.size { try parser.finish() }
    return document
  }

  /// Gives the whole file to `document`; `didPush` is told the bytes so far after each window.
  private func parse(
    _ document: KMLDocument, didPush: (Int) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let parser = try XMLPushParser(file: input.name, handler: document)
    let window = UnsafeMutableRawBufferPointer.allocate(
      byteCount: input.room(upTo: 1 << 17), alignment: 16)
    defer { window.deallocate() }
    var bytesRead = 0
    input.rewind()
    while true {
      let count = try input.read(into: window)
      guard count > 0 else { break }
      try parser.push(UnsafeRawBufferPointer(rebasing: window[..<count]))
      bytesRead += count
      try didPush(bytesRead)
    }
    try parser.finish()
  }
}
