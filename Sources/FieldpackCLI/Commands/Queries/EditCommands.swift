import Fieldpack
import FieldpackCore
import FieldpackFormats

extension FieldpackTool {
  static let editFamily = "Read and change single features."

  static var editCommands: [Command] {
    [
      Command(
        "get", abstract: "Print one feature as GeoJSON.",
        discussion:
          "The feature is in WGS 84. Its id is its key tuple, by which 'update' knows it.",
        examples: ["fieldpack get field.gpkg ZmllbGQ=.d2VsbHM=.MQ=="], family: editFamily,
        body: GetCommand.self),
      Command(
        "create", abstract: "Add features from GeoJSON to a layer.",
        discussion: """
          Prints the key tuples of the new features. Geometries are transformed to the layer's \
          SRS. An integer id in the GeoJSON becomes the feature id.
          """,
        examples: ["fieldpack create field.gpkg wells new.geojson"], family: editFamily,
        body: CreateCommand.self),
      Command(
        "update", abstract: "Change features by the key tuples in GeoJSON.",
        discussion: """
          The id of each feature is a key tuple, as 'get' and 'query --keys' write it. A \
          property that is absent stays, and null clears it; the same holds for the geometry. A \
          geometry that is as 'get' printed it does not change the stored one, with its arcs and \
          m values. A geometry that would lose arcs, z or m values is refused without \
          --allow-loss. All features are changed, or none is.
          """,
        examples: ["fieldpack update field.gpkg edited.geojson"], family: editFamily,
        body: UpdateCommand.self),
      Command(
        "delete", abstract: "Delete features by their key tuples.",
        discussion: "All features are deleted, or none is.",
        examples: ["fieldpack delete field.gpkg ZmllbGQ=.d2VsbHM=.MQ=="], family: editFamily,
        body: DeleteCommand.self),
    ]
  }
}

/// `fieldpack get`.
private struct GetCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: String
    @Required var key: KeyTuple
    let allowsPaths: [String]

    init(_ reader: inout OptionReader) {
      _source = reader.wholeSource()
      _key = reader.argument(.keyTuple, help: "The feature's key tuple.")
      allowsPaths = reader.allowedPaths()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let key = options.key
    let opening = SourceArguments(stores: [key.store], allowing: options.allowsPaths)
    return try await invocation.withSource(options.source, opening) {
      (source) throws(FieldpackError) in
      guard let text = try await source.workspace.geoJSON(of: key) else {
        throw FieldpackError(
          .notFound, "layer '\(key.layer)' of store '\(key.store)' has no feature \(key.feature)",
          location: .init(store: key.store, layer: key.layer, feature: key.feature))
      }
      try invocation.print(String(decoding: text, as: UTF8.self))
      return ExitStatus.success
    }
  }
}

/// `fieldpack update`.
private struct UpdateCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: String
    let input: String
    let allowsLoss: Bool
    let editing: EditArguments

    init(_ reader: inout OptionReader) {
      _source = reader.wholeSource()
      input = reader.geoJSON() ?? "-"
      allowsLoss = reader.flag(
        "allow-loss",
        help: "Let a geometry lose the arcs, z and m values that the GeoJSON does not have.")
      editing = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let features = try invocation.geoJSONFeatures(of: options.input)
    return try await invocation.withEditedSource(
      options.source, options.editing, input: options.input
    ) { (workspace) throws(FieldpackError) in
      let keys = try await workspace.update(geoJSON: features, allowsLoss: options.allowsLoss)
      try invocation.report("updated", keys)
      return ExitStatus.success
    }
  }
}

/// `fieldpack delete`.
private struct DeleteCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: String
    let keys: [KeyTuple]
    let editing: EditArguments

    init(_ reader: inout OptionReader) {
      _source = reader.wholeSource()
      keys = reader.arguments(.keyTuple, minimum: 1, help: "The features' key tuples.")
      editing = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    var keys: [KeyTuple] = []
    for key in options.keys where !keys.contains(key) { keys.append(key) }
    let distinct = keys
    return try await invocation.withEditedSource(
      options.source, only: distinct.map(\.store), options.editing
    ) { (workspace) throws(FieldpackError) in
      try await workspace.delete(distinct)
      try invocation.report("deleted", distinct)
      return ExitStatus.success
    }
  }
}

/// `fieldpack create`.
private struct CreateCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    private let word: String?
    private let file: String?
    let store: StoreID?
    let editing: EditArguments

    init(_ reader: inout OptionReader) {
      _source = reader.source()
      word = reader.optionalArgument(
        .text("layer", completion: .layer),
        help: "The layer to add to, where it does not stand after the source.")
      file = reader.geoJSON()
      store = reader.value(
        "store", .text("id", completion: .store),
        help: "The store of the layer, where there are many."
      ).map { StoreID($0) }
      editing = reader.group()
    }

    /// With the layer after the source, the word that follows is the input.
    func target() throws(FieldpackError) -> (layer: LayerID, input: String) {
      if let layer = source.layer {
        guard word == nil || file == nil else {
          throw FieldpackError(
            .invalidArgument,
            "create adds to one layer, and '\(layer)' and '\(word ?? "")' are named")
        }
        return (layer, word ?? "-")
      }
      guard let word else {
        throw FieldpackError(
          .invalidArgument, "create needs a layer. Try: fieldpack create \(source.path):LAYER")
      }
      return (LayerID(word), file ?? "-")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let (layer, input) = try options.target()
    let features = try invocation.geoJSONFeatures(of: input)
    return try await invocation.withEditedSource(
      options.source.path, only: options.store.map { [$0] }, options.editing, input: input
    ) { (workspace) throws(FieldpackError) in
      let store = try await store(of: layer, in: workspace)
      let created = try await workspace.create(geoJSON: features, in: layer, of: store)
      for note in created.notes { invocation.console.note(note) }
      if invocation.isJSON {
        try invocation.report("created", created.keys)
      } else {
        for key in created.keys { try invocation.print("\(key)\n") }
      }
      return ExitStatus.success
    }
  }

  /// The store that was named, the only one, or the only one with such a layer.
  private func store(
    of layer: LayerID, in workspace: Workspace
  ) async throws(FieldpackError) -> StoreID {
    if let named = options.store { return named }
    if workspace.members.count == 1 { return workspace.members[0].id }
    var found: [StoreID] = []
    for member in workspace.members {
      guard let store = member.store else { continue }
      let names = try await store.schemas().map { $0.layer.rawValue.lowercased() }
      if names.contains(layer.rawValue.lowercased()) { found.append(member.id) }
    }
    if found.count == 1 { return found[0] }
    guard !found.isEmpty else {
      throw FieldpackError(
        .notFound, "no store of the source has a layer '\(layer)'", location: .init(layer: layer))
    }
    let list = found.map(\.rawValue).joined(separator: ", ")
    throw FieldpackError(
      .invalidArgument, "the stores \(list) have a layer '\(layer)'. Try: --store \(found[0])",
      location: .init(layer: layer))
  }
}
