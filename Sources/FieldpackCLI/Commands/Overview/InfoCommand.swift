import Fieldpack
import FieldpackCore
import FieldpackGeometry
import FieldpackMaps
import FieldpackServices

extension FieldpackTool {
  static var infoCommand: Command {
    Command(
      "info", abstract: "Show stores, layers, counts and columns.",
      discussion: """
        Lists every store of a config with its state, its forms and its backend; a store that \
        cannot be opened does not end the command. A store whose file was not downloaded yet is \
        told, and a server that cannot be reached. With a LAYER the columns of the layer are \
        listed, too. Tables that no catalogue of a GeoPackage names are listed by themselves.

        --stats reads all rows once and tells of each column how many NULLs and distinct values it \
        has, the least and the greatest value (texts in the order of their bytes), the mean of its \
        numbers, and the five most frequent values. More than 10,000 distinct values are \
        estimated, which a ~ marks; then no frequent values are told. Of blobs it tells the \
        lengths, of geometries the types and the envelope.
        """,
      examples: [
        "fieldpack info field.gpkg", "fieldpack info survey.scfg wells --map",
        "fieldpack info walk.gpx --json",
        "fieldpack info field.gpkg wells --stats --where \"depth > 20\"",
      ],
      body: InfoCommand.self)
  }
}

/// `fieldpack info`.
struct InfoCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    private let word: LayerID?
    let drawsMap: Bool
    let showsStatistics: Bool
    private let box: Envelope?
    private let condition: String?
    let opening: SourceArguments

    init(_ reader: inout OptionReader) {
      _source = reader.source()
      word = reader.optionalArgument(
        .text("layer", completion: .layer), help: "Show this layer with its columns."
      ).map { LayerID($0) }
      drawsMap = reader.flag("map", help: "Draw a map of the layers.")
      showsStatistics = reader.flag("stats", help: "Tell what the columns of the layers hold.")
      condition = reader.value(
        "where", .text("CQL2"),
        help: "Count only features that meet this condition; @FILE reads it from a file.")
      box = reader.value(
        "bbox", .box, help: "Count only features whose envelope meets this box, in degrees.")
      opening = reader.group()
    }

    /// Which features are counted.
    func filter() throws(FieldpackError) -> Filter {
      let filter = box.map { Filter.envelope(.intersects, $0, srs: .wgs84) } ?? .all
      guard let condition else { return filter }
      return try filter && CommandCondition.filter(condition, source: source.path)
    }

    /// - Throws: `.invalidArgument` where features are chosen and none are counted.
    func check() throws(FieldpackError) {
      guard !showsStatistics, condition != nil || box != nil else { return }
      throw FieldpackError(
        .invalidArgument, "--where and --bbox choose the features of --stats, which is missing")
    }

    func layer() throws(FieldpackError) -> LayerID? {
      guard let named = source.layer, let word else { return source.layer ?? word }
      throw FieldpackError(
        .invalidArgument, "info shows one layer, and '\(named)' and '\(word)' are named")
    }
  }

  let invocation: Invocation
  let options: Options

  /// What is known of one store.
  struct StoreInfo {
    enum State: String {
      case open
      case notDownloaded = "not_downloaded"
      case unreachable
      case failed
    }

    var config: StoreConfig
    var error: FieldpackError?
    /// Of a store whose file is, or is to be, downloaded.
    var download: StoreDownload?
    var layers: [Layer] = []
    var extras = StoreExtras()
    var statistics: [LayerID: LayerStatistics] = [:]

    var state: State {
      guard let error else { return .open }
      guard config.isRemote, error.code == .unavailable else { return .failed }
      return download == nil ? .unreachable : .notDownloaded
    }

    /// The size of the file that was downloaded.
    var downloadedSize: Int? {
      download.flatMap { $0.isDone ? FileSystem.size($0.path) : nil }
    }
  }

  func run() async throws(FieldpackError) -> Int32 {
    try options.check()
    let layer = try options.layer()
    return try await invocation.withSource(options.source.path, options.opening) {
      (source) throws(FieldpackError) in try await show(layer, of: source)
    }
  }

  private func show(
    _ layer: LayerID?, of source: OpenedSource
  ) async throws(FieldpackError) -> Int32 {
    let workspace = source.workspace
    var stores = try await stores(of: workspace)
    if let layer { stores = try await only(layer, stores, of: workspace) }
    if options.showsStatistics {
      for index in stores.indices where stores[index].error == nil {
        try await count(&stores[index], onlyLayer: layer != nil, of: workspace)
      }
    }
    if invocation.isJSON {
      try invocation.print(InfoDocument(stores: stores, source: source).document)
    } else {
      let terminal = invocation.console.terminal
      let text = InfoText(
        stores: stores, forms: layer == nil ? workspace.forms : [],
        remote: layer == nil ? workspace.remote : nil, source: source.name,
        width: terminal.cutWidth,
        usesUnicode: terminal.usesUnicode || !terminal.isOutputTerminal,
        showsColumns: layer != nil || options.showsStatistics)
      try invocation.print(text.text)
      if options.drawsMap { try await printMap(stores, ofOne: layer != nil, of: workspace) }
    }
    try invocation.output.flush()
    for diagnostic in workspace.diagnostics { invocation.console.note(diagnostic.description) }
    return ExitStatus.success
  }

  private func stores(
    of workspace: Workspace
  ) async throws(FieldpackError) -> [StoreInfo] {
    let asked = options.opening.stores
    for id in asked ?? [] where !workspace.members.contains(where: { $0.id == id }) {
      _ = try workspace.store(id)
    }
    var context = StoreContext()
    context.folder = options.opening.storeFolder
    var stores: [StoreInfo] = []
    for member in workspace.members where asked?.contains(member.id) ?? true {
      var info = StoreInfo(config: member.config)
      info.download = try? StoreDownload(member.config, in: context)
      do throws(FieldpackError) {
        let store = try workspace.store(member.id)
        info.layers = try await store.layers()
        info.extras = try await StoreExtras(store)
      } catch {
        if error.code == .interrupted { throw error }
        info.error = error
      }
      stores.append(info)
    }
    return stores
  }

  /// The stores that have the layer, with only that one.
  private func only(
    _ layer: LayerID, _ stores: [StoreInfo], of workspace: Workspace
  ) async throws(FieldpackError) -> [StoreInfo] {
    var query = Query(layers: [layer])
    if let asked = options.opening.stores { query = query.in(stores: asked) }
    let found = try await workspace.prepare(query).layers
    return stores.compactMap { store in
      var store = store
      store.layers.removeAll { layer in
        !found.contains { $0.store == store.config.id && $0.schema.layer == layer.id }
      }
      return store.layers.isEmpty ? nil : store
    }
  }

  /// Adds the statistics of the store's layers.
  private func count(
    _ info: inout StoreInfo, onlyLayer: Bool, of workspace: Workspace
  ) async throws(FieldpackError) {
    let query = Query(layers: onlyLayer ? info.layers.map(\.id) : [], where: try options.filter())
    let prepared = try await workspace.store(info.config.id).prepare(query)
    for note in prepared.notes { invocation.console.note(note) }
    for statistics in try await prepared.statistics() {
      info.statistics[statistics.layer] = statistics
    }
  }

  private func printMap(
    _ stores: [StoreInfo], ofOne isOne: Bool, of workspace: Workspace
  ) async throws(FieldpackError) {
    let open = stores.filter { $0.error == nil && !$0.layers.isEmpty }
    guard !open.isEmpty else { return }
    var query = Query().in(stores: open.map(\.config.id))
    if isOne { query = query.in(layers: open[0].layers.map(\.id)) }
    let scene = try await MapScene(query, of: workspace)
    let envelope = try await scene.envelope()
    for note in scene.notes { invocation.console.note(note) }
    guard !envelope.isEmpty else {
      invocation.console.note("there is nothing to draw")
      return
    }
    let terminal = invocation.console.terminal
    var map = BrailleMap(
      envelope, isGeographic: scene.isGeographic, width: min(terminal.width, 100),
      usesUnicode: terminal.usesUnicode || !terminal.isOutputTerminal)
    try await scene.draw(on: &map)
    let srs = scene.targets.first?.schema.geometry?.srs
    try invocation.print(
      "\n" + map.lines.joined(separator: "\n") + "\n"
        + (srs.map { $0.isUndefined ? "" : "\($0)\n" } ?? ""))
  }
}
