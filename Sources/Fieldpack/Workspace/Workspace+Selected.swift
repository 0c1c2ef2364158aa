public import FieldpackCore
import FieldpackStoreKit

extension Workspace {
  /// Sets columns of all features that a query finds, in one transaction a store.
  ///
  ///     try await workspace.update(
  ///       Query("wells", where: Column("state") == "dry"), set: ["depth": 0])
  ///
  /// Each operand is computed from the feature as it was. Its value is converted to the column's type,
  /// and a text is read as a value of that type.
  ///
  /// - Parameter isTrial: makes all changes and undoes them.
  /// - Returns: the number of features.
  /// - Throws: `.notFound` for a column that a layer lacks; what ``update(_:)-([FeatureUpdate])``
  ///   throws.
  @discardableResult
  public func update(
    _ query: Query, set columns: [String: Operand], isTrial: Bool = false
  ) async throws(FieldpackError) -> Int {
    try await updated(query, set: columns, isTrial: isTrial).count
  }

  /// Deletes all features that a query finds, in one transaction a store.
  ///
  /// - Parameter isTrial: makes all changes and undoes them.
  /// - Returns: the number of features.
  @discardableResult
  public func delete(
    _ query: Query, isTrial: Bool = false
  ) async throws(FieldpackError) -> Int {
    try await deleted(query, isTrial: isTrial).count
  }

  /// As ``update(_:set:isTrial:)``, with the key tuples.
  package func updated(
    _ query: Query, set columns: [String: Operand], isTrial: Bool
  ) async throws(FieldpackError) -> [KeyTuple] {
    try await change(query, isTrial, naming: nil) {
      (schema) throws(FieldpackError) in try Assignments(columns, schema)
    }
  }

  /// As ``delete(_:isTrial:)``, with the key tuples.
  package func deleted(
    _ query: Query, isTrial: Bool
  ) async throws(FieldpackError) -> [KeyTuple] {
    try await change(query, isTrial, naming: nil) { _ in nil }
  }

  /// As ``update(_:set:isTrial:)`` for features by their ids; an unknown one undoes all.
  package func update(
    _ ids: [FeatureID], of layer: LayerID, in store: StoreID, set columns: [String: Operand],
    isTrial: Bool = false
  ) async throws(FieldpackError) -> [KeyTuple] {
    let query = Query(layers: [layer]).in(stores: [store])
    return try await change(query, isTrial, naming: ids) {
      (schema) throws(FieldpackError) in try Assignments(columns, schema)
    }
  }

  /// As ``delete(_:isTrial:)`` for features by their ids; an unknown one undoes all.
  package func delete(
    _ ids: [FeatureID], of layer: LayerID, in store: StoreID, isTrial: Bool = false
  ) async throws(FieldpackError) -> [KeyTuple] {
    let query = Query(layers: [layer]).in(stores: [store])
    return try await change(query, isTrial, naming: ids) { _ in nil }
  }

  private func change(
    _ query: Query, _ isTrial: Bool, naming ids: [FeatureID]?,
    _ assignments: @Sendable (Schema) throws(FieldpackError) -> Assignments?
  ) async throws(FieldpackError) -> [KeyTuple] {
    var layers: [(store: StoreID, schema: Schema)] = []
    for layer in try await prepare(query).layers {
      layers.append((layer.store, try await wholeSchema(of: layer.schema.layer, in: layer.store)))
    }
    var changed: [KeyTuple] = []
    for store in members.map(\.id) where layers.contains(where: { $0.store == store }) {
      var plans: [LayerChanges] = []
      for (_, schema) in layers.filter({ $0.store == store }) {
        plans.append(LayerChanges(schema: schema, assignments: try assignments(schema)))
      }
      let (changes, tried) = (plans, Locked<[KeyTuple]?>(nil))
      do throws(FieldpackError) {
        changed += try await writableStore(store).write { (writer) throws(FieldpackError) in
          var keys: [KeyTuple] = []
          for change in changes { keys += try change.run(query, ids, in: store, on: &writer) }
          guard isTrial else { return keys }
          tried.withLock { $0 = keys }
          // An error undoes the transaction.
          throw FieldpackError(.interrupted, "a trial ends without changes")
        }
      } catch {
        guard let keys = tried.withLock({ $0 }) else { throw error }
        changed += keys
      }
    }
    return changed
  }

  /// The schema with all columns, whatever the query selects.
  private func wholeSchema(
    of layer: LayerID, in store: StoreID
  ) async throws(FieldpackError) -> Schema {
    let all = Query(layers: [layer]).in(stores: [store])
    guard let found = try await prepare(all).layers.first else {
      return Schema(layer: layer)
    }
    return found.schema
  }
}

/// What the columns of a layer are set to.
private struct Assignments: Sendable {
  private let columns: [ColumnDefinition]
  private let evaluator: OperandEvaluator

  init(_ operands: [String: Operand], _ schema: Schema) throws(FieldpackError) {
    var columns: [ColumnDefinition] = []
    var sorted: [Operand] = []
    for (name, operand) in operands.sorted(by: { $0.key < $1.key }) {
      guard let index = schema.columnIndex(name) else { throw schema.unknownColumn(name) }
      columns.append(schema.columns[index])
      sorted.append(operand)
    }
    self.columns = columns
    evaluator = try OperandEvaluator(sorted, schema: schema)
  }

  func attributes(
    of row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Attributes {
    var attributes = Attributes()
    for (column, value) in zip(columns, try evaluator.values(of: row)) {
      attributes[column.name] = value.converted(to: column.type) ?? value
    }
    return attributes
  }
}

/// The changes to one layer; features are deleted where there is nothing to set.
private struct LayerChanges: Sendable {
  let schema: Schema
  let assignments: Assignments?

  func run(
    _ query: Query, _ ids: [FeatureID]?, in store: StoreID, on writer: inout FeatureWriter
  ) throws(FieldpackError) -> [KeyTuple] {
    var found = ChosenRows(assignments: assignments)
    if let ids {
      for id in ids {
        guard let feature = try writer.feature(id, in: schema.layer) else {
          throw FieldpackError(
            .notFound, "layer '\(schema.layer)' of store '\(store)' has no feature \(id)",
            location: .init(store: store, layer: schema.layer, feature: id))
        }
        try found.feature(ValueRow(feature, id: id, schema: schema))
      }
    } else {
      // Columns are set from the whole row.
      let columns = assignments == nil ? [] : schema.columns.map(\.name)
      try writer.scan(
        query.in(layers: [schema.layer]).in(stores: [store]).select(columns), into: &found)
    }
    for (id, attributes) in found.rows {
      if assignments == nil {
        try writer.delete(id, in: schema.layer)
      } else {
        try writer.update(id, in: schema.layer, set: attributes)
      }
    }
    return found.rows.map { KeyTuple(store: store, layer: schema.layer, feature: $0.id) }
  }
}

/// Collects the ids of rows, and what their columns are set to.
private struct ChosenRows: FeatureSink {
  let assignments: Assignments?
  private(set) var rows: [(id: FeatureID, attributes: Attributes)] = []

  init(assignments: Assignments?) { self.assignments = assignments }

  mutating func begin(_ schema: Schema) {}

  mutating func feature(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    rows.append((row.id, try assignments?.attributes(of: row) ?? [:]))
  }
}
