import Fieldpack
import FieldpackCore
import FieldpackFormats

extension FieldpackTool {
  static let editFamily = "Read and change single features."

  static var editCommands: [Command] { [getCommand, createCommand, updateCommand, deleteCommand] }

  private static var getCommand: Command {
    Command(
      "get", abstract: "Print one feature as GeoJSON.",
      discussion: "In WGS 84, with its key tuple as id, which 'update' takes back.",
      examples: ["fieldpack get field.gpkg ZmllbGQ=.d2VsbHM=.MQ=="],
      arguments: [SourceArguments.source, EditArguments.key],
      options: [EditArguments.options, CommonOptions.group], family: editFamily
    ) { invocation throws(FieldpackError) in
      let key = invocation.arguments[EditArguments.key]
      return try await invocation.withSource(only: [key.store]) {
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

  private static var updateCommand: Command {
    Command(
      "update", abstract: "Change features by the key tuples in GeoJSON.",
      discussion: """
        The ids of the features are key tuples, as 'get' and 'query --keys' write them. Members of \
        properties that are absent stay, null clears; the geometry likewise. A geometry that is as \
        'get' printed it leaves the stored one as it is, arcs and m values included; another one \
        that would lose these, or z values, is refused. All features are changed, or none is.
        """,
      examples: ["fieldpack update field.gpkg edited.geojson"],
      arguments: [SourceArguments.source, EditArguments.input],
      options: [
        OptionGroup(nil, [EditArguments.allowLoss]), EditArguments.changing, CommonOptions.group,
      ], family: editFamily
    ) { invocation throws(FieldpackError) in
      let features = try invocation.geoJSONFeatures()
      let allowsLoss = invocation.arguments[EditArguments.allowLoss]
      return try await invocation.withEditedSource { (workspace) throws(FieldpackError) in
        let keys = try await workspace.update(geoJSON: features, allowsLoss: allowsLoss)
        try invocation.report("updated", keys)
        return ExitStatus.success
      }
    }
  }

  private static var deleteCommand: Command {
    Command(
      "delete", abstract: "Delete features by their key tuples.",
      discussion: "All features are deleted, or none is.",
      examples: ["fieldpack delete field.gpkg ZmllbGQ=.d2VsbHM=.MQ=="],
      arguments: [SourceArguments.source, EditArguments.keys],
      options: [EditArguments.changing, CommonOptions.group], family: editFamily
    ) { invocation throws(FieldpackError) in
      var keys: [KeyTuple] = []
      for key in invocation.arguments[EditArguments.keys] where !keys.contains(key) {
        keys.append(key)
      }
      let distinct = keys
      return try await invocation.withEditedSource(only: distinct.map(\.store)) {
        (workspace) throws(FieldpackError) in
        try await workspace.delete(distinct)
        try invocation.report("deleted", distinct)
        return ExitStatus.success
      }
    }
  }

  private static var createCommand: Command {
    Command(
      "create", abstract: "Add features from GeoJSON to a layer.",
      discussion: """
        Prints the key tuples of the new features. Their geometries are transformed to the layer's \
        SRS; an integer id is the feature id asked for.
        """,
      examples: ["fieldpack create field.gpkg wells new.geojson"],
      arguments: [SourceArguments.source, CreateCommand.layer, EditArguments.input],
      options: [
        OptionGroup(nil, [CreateCommand.store]), EditArguments.changing, CommonOptions.group,
      ], family: editFamily
    ) { invocation throws(FieldpackError) in
      try await CreateCommand(invocation: invocation).run()
    }
  }
}

/// `fieldpack create`.
private struct CreateCommand {
  static let layer = Argument<String>.required(
    .text("layer", completion: .layer), help: "The layer to add to.")
  static let store = Option<String?>.value(
    "store", .text("id", completion: .store), help: "The store of the layer, where there are many.")

  let invocation: Invocation

  func run() async throws(FieldpackError) -> Int32 {
    let features = try invocation.geoJSONFeatures()
    let layer = LayerID(invocation.arguments[Self.layer])
    let named = invocation.arguments[Self.store].map { [StoreID($0)] }
    return try await invocation.withEditedSource(only: named) {
      (workspace) throws(FieldpackError) in
      let store = try await store(of: layer, in: workspace)
      let created = try await workspace.create(geoJSON: features, in: layer, of: store)
      for note in created.notes { invocation.console.note(note) }
      if invocation.arguments[CommonOptions.json] {
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
    if let named = invocation.arguments[Self.store] { return StoreID(named) }
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
