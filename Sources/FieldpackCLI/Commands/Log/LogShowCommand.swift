import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

/// `fieldpack log show`.
struct LogShowCommand: CommandBody {
  let invocation: Invocation
  let options: LoggedFeature

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withLoggedFeature(options) { (store, key) throws(FieldpackError) in
      let history = try await store.read { (snapshot) throws(FieldpackError) in
        try FeatureHistory(of: key, in: snapshot)
      }
      if !history.isCurrent { invocation.noteStale(key.layer, of: options.source.path) }
      if invocation.isJSON {
        try invocation.print(history.document)
      } else {
        try invocation.print(history.text)
      }
      return ExitStatus.success
    }
  }
}

/// `fieldpack log undo`.
struct LogUndoCommand: CommandBody {
  struct Options: OptionGroup {
    let feature: LoggedFeature
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      feature = reader.group()
      profile = reader.editingProfile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withLoggedFeature(options.feature, options.profile) {
      (store, key) throws(FieldpackError) in
      let (edit, isThere) = try await store.write { (writer) throws(FieldpackError) in
        let log = try writer.existingLog(of: key.layer).log
        guard let number = try writer.number(of: key.feature, in: log),
          let edit = try log.last(of: number)
        else { throw FieldpackError.unlogged(key) }
        return (edit, try writer.undo(number, in: log) != nil)
      }
      if invocation.isJSON {
        try invocation.print([
          "key": .text("\(key)"), "layer": .text(key.layer.rawValue),
          "feature": JSONValue(key.feature), "edit": .integer(edit.number),
          "operation": .text(edit.operation.word), "is_deleted": .boolean(!isThere),
        ])
      } else {
        let feature = DisplayText.visible("feature \(key.feature) of \(key.layer)")
        let result = edit.operation == .update ? "as before" : isThere ? "there again" : "deleted"
        try invocation.print(
          "the last \(edit.operation.word) is taken back: \(feature) is \(result)\n")
      }
      return ExitStatus.success
    }
  }
}

/// The one feature whose edits are asked for.
struct LoggedFeature: OptionGroup {
  @Required var source: SourceName
  @Required private var feature: String
  private let store: StoreID?
  let allowsPaths: [String]

  init(_ reader: inout OptionReader) {
    _source = reader.source()
    _feature = reader.argument(
      .text("feature"), help: "The feature's key tuple, or its id where a layer is named.")
    store = reader.store()
    allowsPaths = reader.allowedPaths()
  }

  var chosen: ChosenFeatures {
    ChosenFeatures(source: source, words: [feature], condition: nil, takesAll: false, store: store)
  }
}

extension FieldpackError {
  static func unlogged(_ key: KeyTuple) -> FieldpackError {
    FieldpackError(
      .notFound, "feature \(key.feature) of layer '\(key.layer)' has no edit in the change log",
      location: .init(store: key.store, layer: key.layer, feature: key.feature))
  }
}

extension Invocation {
  /// Opens the GeoPackage that has the feature.
  fileprivate func withLoggedFeature(
    _ feature: LoggedFeature, _ profile: OpeningProfile = .foreign,
    _ body: (GeoPackageStore, KeyTuple) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    let chosen = feature.chosen
    return try await withSource(
      feature.source.path,
      SourceArguments(stores: chosen.stores, allowing: feature.allowsPaths), profile: profile,
      usesWAL: false
    ) { (source) throws(FieldpackError) in
      let key = try await chosen.key(in: source.workspace) { console.note($0) }
      guard let store = try source.workspace.store(key.store).geoPackage else {
        throw FieldpackError(
          .unsupported, "store '\(key.store)' is no GeoPackage and has no change log",
          advice: .importIntoGeoPackage, location: .init(store: key.store))
      }
      return try await body(store, key)
    }
  }
}

/// The edits of a feature, each with what it changed.
private struct FeatureHistory: Sendable {
  private struct Change: Sendable {
    var column: String
    /// `nil` where the row was not there.
    var from: Value?
    var to: Value?
  }

  private let key: KeyTuple
  private var edits: [(edit: LoggedEdit, changes: [Change])] = []
  /// Whether all edits are in the log.
  let isCurrent: Bool

  init(of key: KeyTuple, in snapshot: GeoPackageSnapshot) throws(FieldpackError) {
    self.key = key
    let (log, isCurrent) = try snapshot.existingLog(of: key.layer)
    self.isCurrent = isCurrent
    guard let number = try snapshot.number(of: key.feature, in: log) else {
      throw FieldpackError.unlogged(key)
    }
    var before: [Value]?
    for edit in try log.history(of: number) {
      let now = try snapshot.values(of: edit, in: log)
      defer { before = edit.operation == .delete ? nil : now }
      guard edit.operation != .state else { continue }
      let (old, new) = edit.operation == .delete ? (before ?? now, nil) : (before, now)
      let changes = log.valueColumns.compactMap { index -> Change? in
        let change = Change(column: log.columns[index], from: old?[index], to: new?[index])
        return (change.from ?? .null) == (change.to ?? .null) ? nil : change
      }
      edits.append((edit, changes))
    }
  }

  var document: JSONValue {
    [
      "key": .text("\(key)"), "layer": .text(key.layer.rawValue),
      "feature": JSONValue(key.feature),
      "edits": .array(
        edits.map { edit, changes in
          edit.document(
            changing: changes.map { change in
              [
                "column": .text(change.column), "from": Self.json(change.from),
                "to": Self.json(change.to),
              ]
            })
        }),
    ]
  }

  /// An edit a line, and under it a line for each column that it changed.
  var text: String {
    var lines: [String] = []
    for (edit, changes) in edits {
      let words = [
        "\(edit.number)", edit.time?.description, edit.operation.word,
        edit.author.map { "by \($0)" }, edit.sent == nil ? "(pending)" : nil,
      ]
      lines.append(words.compactMap { $0 }.joined(separator: "  "))
      for change in changes {
        let (from, to) = (change.from.map(Self.text), change.to.map(Self.text))
        let values = [from, to].compactMap { $0 }.joined(separator: " → ")
        lines.append("  \(change.column): \(values)")
      }
    }
    return lines.map { DisplayText.visible($0) + "\n" }.joined()
  }

  private static func text(_ value: Value) -> String {
    if case .boolean(let flag) = value { return "\(flag)" }
    return value.sqlText(isWhole: false) ?? "NULL"
  }

  private static func json(_ value: Value?) -> JSONValue {
    if case .boolean(let flag)? = value { return .boolean(flag) }
    return JSONValue(sql: value ?? .null)
  }
}
