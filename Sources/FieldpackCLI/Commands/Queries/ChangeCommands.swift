import Fieldpack
import FieldpackCore
import FieldpackFormats

extension OptionReader {
  fileprivate mutating func features(minimum: Int, _ help: String) -> [String] {
    arguments(.text("feature"), minimum: minimum, help: help)
  }
}

/// `fieldpack get`.
struct GetCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    @Required var feature: String
    let store: StoreID?
    let allowsPaths: [String]

    init(_ reader: inout OptionReader) {
      _source = reader.source()
      _feature = reader.argument(
        .text("feature"), help: "The feature's key tuple, or its id where a layer is named.")
      store = reader.store()
      allowsPaths = reader.allowedPaths()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let chosen = ChosenFeatures(
      source: options.source, words: [options.feature], condition: nil, takesAll: false,
      store: options.store)
    let opening = SourceArguments(stores: chosen.stores, allowing: options.allowsPaths)
    return try await invocation.withSource(options.source.path, opening) {
      (source) throws(FieldpackError) in
      let key = try await chosen.key(in: source.workspace) { invocation.console.note($0) }
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
struct UpdateCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    private let words: [String]
    let assignments: [Assignment]
    let allowsLoss: Bool
    private let choice: ChoiceArguments
    let editing: EditArguments

    init(_ reader: inout OptionReader) {
      _source = reader.source()
      words = reader.features(
        minimum: 0,
        "With --set the ids of features of the named layer. Else one file of GeoJSON in WGS 84; "
          + "standard input where it is - or missing.")
      assignments = reader.values(
        "set", .assignment, help: "Set a column; NULL clears it. May be given several times.")
      allowsLoss = reader.flag(
        "allow-loss",
        help: "Let a geometry lose the arcs, z and m values that the GeoJSON does not have.")
      choice = reader.group()
      editing = reader.group()
    }

    var chosen: ChosenFeatures { choice.chosen(source, words) }
    var isTrial: Bool { choice.isTrial }
    var takesAnyStore: Bool { choice.takesAnyStore }

    /// The GeoJSON to read.
    func input() throws(FieldpackError) -> String {
      if source.layer != nil || choice.condition != nil || choice.takesAll || words.count > 1 {
        throw FieldpackError(
          .invalidArgument,
          "what the features of a layer are to be set to is missing. "
            + "Try: --set column=VALUE")
      }
      if choice.isTrial {
        throw FieldpackError(.invalidArgument, "--dry-run goes with --set")
      }
      return words.first ?? "-"
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    guard options.assignments.isEmpty else { return try await set() }
    let input = try options.input()
    let features = try invocation.geoJSONFeatures(of: input)
    return try await invocation.withEditedSource(
      options.source.path, options.editing, input: input
    ) { (workspace) throws(FieldpackError) in
      let features = options.takesAnyStore ? try own(features, of: workspace) : features
      let keys = try await workspace.update(geoJSON: features, allowsLoss: options.allowsLoss)
      try invocation.report("updated", keys)
      return ExitStatus.success
    }
  }

  /// The features with the key tuples of the file's only store.
  private func own(
    _ features: [GeoJSONFeature], of workspace: Workspace
  ) throws(FieldpackError) -> [GeoJSONFeature] {
    guard workspace.members.count == 1, let only = workspace.members.first?.id else {
      return features
    }
    return features.map { feature in
      var feature = feature
      if var key = feature.key {
        key.store = only
        feature.id = .text(key.description)
      }
      return feature
    }
  }

  private func set() async throws(FieldpackError) -> Int32 {
    let chosen = options.chosen
    let layer = try options.source.namedLayer()
    let ids = try chosen.ids()
    return try await invocation.withEditedSource(
      options.source.path, only: options.chosen.store.map { [$0] }, options.editing
    ) { (workspace) throws(FieldpackError) in
      let store = try await workspace.store(of: layer, named: chosen.store)
      let columns = try await columns(of: layer, in: store, of: workspace)
      let keys =
        if let ids {
          try await workspace.update(
            ids, of: layer, in: store, set: columns, isTrial: options.isTrial)
        } else {
          try await workspace.updated(
            try chosen.query(layer, of: store), set: columns, isTrial: options.isTrial)
        }
      try invocation.report(options.isTrial ? "would be updated" : "updated", keys)
      return ExitStatus.success
    }
  }

  private func columns(
    of layer: LayerID, in store: StoreID, of workspace: Workspace
  ) async throws(FieldpackError) -> [String: Operand] {
    let query = Query(layers: [layer]).in(stores: [store])
    guard let schema = try await workspace.prepare(query).layers.first?.schema else { return [:] }
    var columns: [String: Operand] = [:]
    for assignment in options.assignments {
      guard let index = schema.columnIndex(assignment.column) else {
        throw schema.unknownColumn(assignment.column)
      }
      let column = schema.columns[index]
      guard columns[column.name] == nil else {
        throw FieldpackError(
          .invalidArgument, "column '\(column.name)' is set more than once")
      }
      columns[column.name] = try assignment.operand(column.type)
    }
    return columns
  }
}

/// `fieldpack delete`.
struct DeleteCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    private let words: [String]
    private let choice: ChoiceArguments
    let editing: EditArguments

    init(_ reader: inout OptionReader) {
      _source = reader.source()
      words = reader.features(
        minimum: 0, "The features' key tuples, or their ids where a layer is named.")
      choice = reader.group()
      editing = reader.group()
    }

    var chosen: ChosenFeatures { choice.chosen(source, words) }
    var isTrial: Bool { choice.isTrial }
    var takesAnyStore: Bool { choice.takesAnyStore }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let chosen = options.chosen
    if let layer = options.source.layer { return try await delete(chosen, in: layer) }
    // What chooses among the features of a layer needs the layer's name.
    if chosen.condition != nil || chosen.takesAll || options.isTrial {
      _ = try options.source.namedLayer()
    }
    guard !chosen.words.isEmpty else {
      throw FieldpackError(
        .invalidArgument,
        "no features are named. Try: key tuples, or a layer with ids: "
          + "\(options.source.path):LAYER ID")
    }
    return try await invocation.withEditedSource(options.source.path, options.editing) {
      (workspace) throws(FieldpackError) in
      let keys = try chosen.keys(in: workspace, takesAnyStore: options.takesAnyStore) {
        invocation.console.note($0)
      }
      try await workspace.delete(keys)
      try invocation.report("deleted", keys)
      return ExitStatus.success
    }
  }

  private func delete(
    _ chosen: ChosenFeatures, in layer: LayerID
  ) async throws(FieldpackError) -> Int32 {
    let ids = try chosen.ids()
    return try await invocation.withEditedSource(
      options.source.path, only: chosen.store.map { [$0] }, options.editing
    ) { (workspace) throws(FieldpackError) in
      let store = try await workspace.store(of: layer, named: chosen.store)
      let keys =
        if let ids {
          try await workspace.delete(ids, of: layer, in: store, isTrial: options.isTrial)
        } else {
          try await workspace.deleted(
            try chosen.query(layer, of: store), isTrial: options.isTrial)
        }
      try invocation.report(options.isTrial ? "would be deleted" : "deleted", keys)
      return ExitStatus.success
    }
  }
}
