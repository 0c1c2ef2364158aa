package import FieldpackCore

/// The features of a query as values, for the few that are asked for here.
package struct FeatureList: FeatureSink {
  private var batches: [FeatureBatch] = []
  private let store: StoreID

  package init(_ store: StoreID) { self.store = store }

  package mutating func begin(_ schema: Schema) {
    batches.append(FeatureBatch(store: store, schema: schema))
  }

  package mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
    batches[batches.count - 1].append(row)
  }

  package func features() throws(FieldpackError) -> [Feature] {
    var features: [Feature] = []
    for batch in batches {
      for index in 0..<batch.count { features.append(try batch.feature(at: index)) }
    }
    return features
  }
}

extension SnapshotReading {
  package func features(_ query: Query) throws(FieldpackError) -> [Feature] {
    var list = FeatureList("")
    try scan(query, into: &list)
    return try list.features()
  }
}
