import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var tileCommand: Command {
    Command(
      "tile", abstract: "Write a tile of a web map out of a tile pyramid.",
      discussion: """
        The address is zoom/x/y on the usual grid of web maps, with row 0 at the top. The pyramid \
        may have any grid. A stored tile of the same area is written as it is: PNG, JPEG or WebP. \
        Else the tile is a PNG of 256 x 256 pixels, made of the zoom level that fits best, and \
        clear where the pyramid has nothing. JPEG and WebP are decoded by ffmpeg. Of a config its \
        stores are asked: GeoPackages, and those of the type xyz.1, which fetch tiles from a server.
        """,
      examples: [
        "fieldpack tile field.gpkg:ortho 14/8587/5664 --output tile.png",
        "fieldpack tile field.gpkg 0/0/0 --output - > world.png",
        "fieldpack tile survey.scfg:streets 14/8587/5664 --output tile.png",
      ],
      family: mappingFamily, body: TileCommand.self)
  }
}

/// `fieldpack tile`.
private struct TileCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    @Required var address: TileAddress
    let allowsPaths: [String]
    let file: OutputArguments

    init(_ reader: inout OptionReader) {
      _source = reader.argument(
        .source("source", ["gpkg", "scfg"]),
        help: "A GeoPackage or a config; after a colon the tiles, or their store, of several.")
      _address = reader.argument(.tileAddress, help: "The zoom, the column x and the row y.")
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
        .invalidArgument, "a picture is not written to a terminal. Try: --output FILE")
    }
    let address = options.address
    let arguments = SourceArguments(allowing: options.allowsPaths)
    let (layer, tile) = try await invocation.withSource(options.source.path, arguments) {
      (source) async throws(FieldpackError) in
      let (store, layer) = try await source.tiles(options.source.layer)
      return (layer, try await store.webTile(address, of: layer))
    }
    guard let tile else {
      throw FieldpackError(
        .notFound, "'\(layer)' has nothing at tile \(address)", location: .init(layer: layer))
    }
    let output = try options.file.open(invocation)
    try output.write(tile.bytes)
    try output.finish()
    guard !options.file.isStandard else { return ExitStatus.success }
    try tell(tile, layer)
    return ExitStatus.success
  }

  private func tell(_ tile: Tile, _ layer: LayerID) throws(FieldpackError) {
    let (path, address) = (options.file.path, tile.address)
    guard !invocation.isJSON else {
      return try invocation.print([
        "output": .text(path), "layer": .text(layer.rawValue),
        "zoom": JSONValue(address.zoom), "column": JSONValue(address.column),
        "row": JSONValue(address.row), "media_type": JSONValue(tile.mediaType),
        "byte_count": JSONValue(tile.bytes.count),
      ])
    }
    let type = tile.mediaType ?? "unknown"
    try invocation.print(
      DisplayText.visible("tile \(address) of \(layer) written to \(path): \(type)") + "\n")
  }
}

extension OpenedSource {
  /// The tiles of that name, those of the store of that name, or the only ones.
  fileprivate func tiles(
    _ name: LayerID?
  ) async throws(FieldpackError) -> (store: any RasterStore, layer: LayerID) {
    var known: [(store: any RasterStore, layer: LayerID)] = []
    for member in workspace.members {
      guard member.store != nil || member.id.rawValue == name?.rawValue else { continue }
      guard let store = try workspace.store(member.id) as? any RasterStore else { continue }
      for pyramid in try await store.tilePyramids() { known.append((store, pyramid.name)) }
    }
    var found = known
    if let name {
      found = known.filter { $0.layer.rawValue.lowercased() == name.rawValue.lowercased() }
      if found.isEmpty { found = known.filter { $0.store.id.rawValue == name.rawValue } }
      // The only store says itself what it has.
      if found.isEmpty, Set(known.map(\.store.id)).count == 1 { return (known[0].store, name) }
    }
    guard found.count != 1 else { return found[0] }
    let names = (found.isEmpty ? known : found).map { "\($0.store.id)/\($0.layer)" }
      .joined(separator: ", ")
    guard !found.isEmpty else {
      throw FieldpackError(
        .notFound,
        "\(self.name) has no tiles"
          + (name.map { " '\($0)'" } ?? "") + (names.isEmpty ? "" : " (it has: \(names))"))
    }
    throw FieldpackError(
      .invalidArgument, "\(self.name) has several tile pyramids (\(names)). Try: FILE:LAYER")
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
