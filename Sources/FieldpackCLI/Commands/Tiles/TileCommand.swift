import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var tileCommand: Command {
    Command(
      "tile",
      abstract: "Write a tile of a web map out of a tile pyramid, or of a layer's features.",
      discussion: """
        The address is zoom/x/y on the usual grid of web maps, with row 0 at the top. The pyramid \
        may have any grid. A stored tile of the same area is written as it is: PNG, JPEG or WebP. \
        Else the tile is a PNG of 256 x 256 pixels, made of the zoom level that fits best, and \
        clear where the pyramid has nothing. JPEG and WebP are decoded by ffmpeg. Of a config its \
        stores are asked: GeoPackages, and those of the type xyz.1, which fetch tiles from a server.

        Of a layer with features the tile is a Mapbox Vector Tile. --properties names the attributes \
        that go into it ('' for none), else all go but blobs. With --budget a tile with more features \
        keeps so many, spread evenly, large ones first, and says so in a second layer NAME:thinned.
        """,
      examples: [
        "fieldpack tile field.gpkg:ortho 14/8587/5664 --output tile.png",
        "fieldpack tile field.gpkg 0/0/0 --output - > world.png",
        "fieldpack tile survey.scfg:streets 14/8587/5664 --output tile.png",
        "fieldpack tile field.gpkg:wells 14/8587/5664 --properties name,depth --output tile.mvt",
        "fieldpack tile field.gpkg:wells 6/33/21 --properties '' --budget 2000 --output tile.mvt",
      ],
      family: editFamily, body: TileCommand.self)
  }
}

/// `fieldpack tile`.
private struct TileCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    @Required var address: TileAddress
    let properties: [String]?
    let budget: Int?
    let allowsPaths: [String]
    let file: OutputArguments

    init(_ reader: inout OptionReader) {
      _source = reader.argument(
        .source("source", ["gpkg", "scfg"]),
        help: "A GeoPackage or a config; after a colon the tiles or the layer, or their store.")
      _address = reader.argument(.tileAddress, help: "The zoom, the column x and the row y.")
      properties = reader.value(
        "properties", .properties, help: "The attributes in a vector tile; '' for none.")
      budget = reader.value(
        "budget", .integer("n", in: 0...Int.max), help: "The most features in a vector tile.")
      allowsPaths = reader.allowedPaths()
      file = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try options.file.check(invocation)
    guard !options.file.isStandard || !invocation.console.terminal.isOutputTerminal else {
      throw FieldpackError(
        .invalidArgument, "a tile is not written to a terminal. Try: --output FILE")
    }
    let arguments = SourceArguments(allowing: options.allowsPaths)
    let made = try await invocation.withSource(options.source.path, arguments) {
      (source) async throws(FieldpackError) -> Made in
      try await make(try await source.tiles(options.source.layer))
    }
    let output = try options.file.open(invocation)
    try output.write(made.bytes)
    try output.finish()
    if let skipped = made.vector?.skippedCount, skipped > 0 {
      invocation.console.note(
        "\(skipped.counting("feature")) left out, whose geometry has no place in the tile's system or "
          + "cannot be read")
    }
    guard !options.file.isStandard else { return ExitStatus.success }
    try tell(made)
    return ExitStatus.success
  }

  /// A tile that was made.
  private struct Made: Sendable {
    var layer: LayerID
    var bytes: [UInt8]
    var mediaType: String?
    /// Of a tile with features, what is in it.
    var vector: VectorTile?
  }

  private func make(_ source: TileSource) async throws(FieldpackError) -> Made {
    switch source {
    case .pictures(let store, let layer):
      guard options.properties == nil, options.budget == nil else {
        throw FieldpackError(
          .invalidArgument,
          "'\(layer)' holds pictures, with which --properties and --budget do not go")
      }
      guard let tile = try await store.webTile(options.address, of: layer) else {
        throw nothing(in: layer)
      }
      return Made(layer: layer, bytes: tile.bytes, mediaType: tile.mediaType)
    case .features(let store, let layer):
      let tile = try await store.vectorTile(
        of: layer, at: options.address,
        options: .init(properties: options.properties, budget: options.budget))
      guard !tile.bytes.isEmpty else { throw nothing(in: layer) }
      return Made(
        layer: layer, bytes: tile.bytes, mediaType: VectorTile.mediaType, vector: tile)
    }
  }

  private func nothing(in layer: LayerID) -> FieldpackError {
    FieldpackError(
      .notFound, "'\(layer)' has nothing at tile \(options.address)", location: .init(layer: layer))
  }

  private func tell(_ made: Made) throws(FieldpackError) {
    let (path, address, layer) = (options.file.path, options.address, made.layer)
    guard !invocation.isJSON else {
      return try invocation.print([
        "output": .text(path), "layer": .text(layer.rawValue),
        "zoom": JSONValue(address.zoom), "column": JSONValue(address.column),
        "row": JSONValue(address.row), "media_type": JSONValue(made.mediaType),
        "byte_count": JSONValue(made.bytes.count),
        "feature_count": JSONValue(made.vector?.featureCount),
        "thinned_from": JSONValue(made.vector?.thinnedFrom),
        "skipped_count": JSONValue(made.vector?.skippedCount),
      ])
    }
    var what = made.mediaType ?? "unknown"
    if let vector = made.vector {
      what += ", \(vector.featureCount.counting("feature"))"
      if let total = vector.thinnedFrom { what += " of \(total)" }
    }
    try invocation.print(
      DisplayText.visible("tile \(address) of \(layer) written to \(path): \(what)") + "\n")
  }
}

extension ValueForm where Value == [String] {
  /// Names of columns; none where the text is empty.
  fileprivate static var properties: ValueForm {
    let names = ValueForm.list("a,b", of: .column)
    return ValueForm(names.placeholder, completion: names.completion) {
      (text) throws(ValueError) -> [String] in text.isEmpty ? [] : try names.read(text)
    }
  }
}

extension ValueForm where Value == TileAddress {
  /// A tile of a web map, such as `14/8587/5664`.
  fileprivate static var tileAddress: ValueForm {
    ValueForm("zoom/x/y") { (text) throws(ValueError) in
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      let numbers = parts.compactMap { Int($0) }
      guard parts.count == 3, numbers.count == 3 else {
        throw ValueError("is no address of a tile, such as 14/8587/5664")
      }
      return TileAddress(zoom: numbers[0], column: numbers[1], row: numbers[2])
    }
  }
}
