import Fieldpack
import FieldpackCore

/// Which features a command reads or changes: those of key tuples, of ids in a layer, or of a
/// condition.
struct ChosenFeatures: Sendable {
  let source: SourceName
  /// Key tuples, or ids where the source names a layer.
  let words: [String]
  let condition: String?
  let takesAll: Bool
  let store: StoreID?

  /// The key tuples of a source that names no layer.
  ///
  /// A key tuple of another store than a file's only one is taken as one of that store: files get
  /// other names.
  /// - Parameter takesAnyStore: whether that holds here.
  func keys(
    in workspace: Workspace, takesAnyStore: Bool, note: (String) -> Void
  ) throws(FieldpackError) -> [KeyTuple] {
    var keys: [KeyTuple] = []
    for word in words {
      guard var key = KeyTuple(word) else { throw Self.unreadable(word, source) }
      if let only = workspace.members.first?.id, workspace.members.count == 1, key.store != only {
        guard takesAnyStore else { throw Self.unknownStore(key.store, in: workspace) }
        note("'\(key.store)' is taken as '\(only)', the only store of \(source.path)")
        key.store = only
      }
      if !keys.contains(key) { keys.append(key) }
    }
    return keys
  }

  /// The stores to open for one feature; `nil` for all.
  var stores: [StoreID]? {
    // A file has one store, whose name may be another than the key tuple's.
    let isFile = Format.byExtension(source.path) != nil
    let named = isFile || source.layer != nil ? nil : words.first.flatMap { KeyTuple($0)?.store }
    return (store ?? named).map { [$0] }
  }

  /// The one feature that is named, by its key tuple or by its id in a layer.
  func key(
    in workspace: Workspace, note: (String) -> Void
  ) async throws(FieldpackError) -> KeyTuple {
    guard let layer = source.layer else {
      return try keys(in: workspace, takesAnyStore: true, note: note)[0]
    }
    let store = try await workspace.store(of: layer, named: store)
    let ids = try ids() ?? []
    return KeyTuple(store: store, layer: layer, feature: ids[0])
  }

  private static func unknownStore(_ store: StoreID, in workspace: Workspace) -> FieldpackError {
    let known = workspace.members.map(\.id.rawValue).joined(separator: ", ")
    return FieldpackError(
      .notFound,
      "store '\(store)' is not in the workspace (it has: \(known)). "
        + "Try: --any-store, where the file has another name now", location: .init(store: store))
  }

  private static func unreadable(_ word: String, _ source: SourceName) -> FieldpackError {
    let advice =
      FeatureID(number: word) == nil
      ? "fieldpack query --keys" : "\(source.path):LAYER \(word)"
    return FieldpackError(
      .invalidArgument,
      "<key> '\(word)' is not a key tuple of store, layer and feature. Try: \(advice)")
  }

  /// The ids of features of the named layer; `nil` where the condition chooses.
  func ids() throws(FieldpackError) -> [FeatureID]? {
    guard words.isEmpty else {
      guard condition == nil, !takesAll else {
        throw FieldpackError(
          .invalidArgument,
          "features are chosen by ids, by --where or by --all, not by two of these"
        )
      }
      var ids: [FeatureID] = []
      for word in words {
        let id = FeatureID(number: word) ?? .text(word)
        if !ids.contains(id) { ids.append(id) }
      }
      return ids
    }
    guard condition != nil || takesAll else {
      throw FieldpackError(
        .invalidArgument, "no features are chosen. Try: ids, --where, or --all for every feature")
    }
    guard condition == nil || !takesAll else {
      throw FieldpackError(
        .invalidArgument, "--where chooses some features and --all all of them: give one of the two"
      )
    }
    return nil
  }

  /// The query of the condition in one layer of one store.
  func query(_ layer: LayerID, of store: StoreID) throws(FieldpackError) -> Query {
    let filter = try condition.map { (text) throws(FieldpackError) in
      try CommandCondition.filter(text, source: source.path)
    }
    return Query(layers: [layer], where: filter ?? .all).in(stores: [store])
  }
}

extension FeatureID {
  /// An integer id.
  fileprivate init?(number: String) {
    guard let number = Int64(number) else { return nil }
    self = .integer(number)
  }
}

extension Workspace {
  /// The store that was named, the only one, or the only one with such a layer.
  func store(
    of layer: LayerID, named: StoreID?
  ) async throws(FieldpackError) -> StoreID {
    if let named { return named }
    if members.count == 1 { return members[0].id }
    var found: [StoreID] = []
    for member in members {
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

/// The options by which `update` and `delete` choose features of a layer.
struct ChoiceArguments: OptionGroup {
  static let title: String? = "Features of a layer"

  let condition: String?
  let takesAll: Bool
  let isTrial: Bool
  let takesAnyStore: Bool
  let store: StoreID?

  init(_ reader: inout OptionReader) {
    condition = reader.value(
      "where", .text("CQL2"), help: "The features that meet this condition, as in 'query'.")
    takesAll = reader.flag("all", help: "Every feature of the layer.")
    isTrial = reader.flag(
      "dry-run", help: "Say how many features would be changed, and leave them as they are.")
    takesAnyStore = reader.flag(
      "any-store", help: "Take the key tuples of another store as those of the file's only one.")
    store = reader.store()
  }

  func chosen(_ source: SourceName, _ words: [String]) -> ChosenFeatures {
    ChosenFeatures(
      source: source, words: words, condition: condition, takesAll: takesAll, store: store)
  }
}

extension OptionReader {
  mutating func store() -> StoreID? {
    value(
      "store", .text("id", completion: .store),
      help: "The store of the layer, where there are many."
    ).map { StoreID($0) }
  }
}
