/// What a transaction changes, in its order.
package struct ChangeLog: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case created, updated, deleted
    /// The layer itself, or rows of it that are not told.
    case layer
  }

  /// Changes of one kind to one layer, one after the other.
  package struct Run: Hashable, Sendable {
    package let kind: Kind
    package let layer: LayerID
    package fileprivate(set) var ids: [FeatureID]
  }

  package private(set) var runs: [Run] = []

  package init() {}

  package mutating func note(_ kind: Kind, _ id: FeatureID, in layer: LayerID) {
    if let last = runs.last, last.kind == kind, last.layer == layer {
      runs[runs.count - 1].ids.append(id)
    } else {
      runs.append(Run(kind: kind, layer: layer, ids: [id]))
    }
  }

  package mutating func note(_ layer: LayerID) {
    let run = Run(kind: .layer, layer: layer, ids: [])
    if runs.last != run { runs.append(run) }
  }
}
