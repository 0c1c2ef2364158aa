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
    if let last = runs.indices.last, runs[last].kind == kind, runs[last].layer == layer {
      runs[last].ids.append(id)
    } else {
      runs.append(Run(kind: kind, layer: layer, ids: [id]))
    }
  }

  package mutating func note(_ layer: LayerID) {
    let run = Run(kind: .layer, layer: layer, ids: [])
    if runs.last != run { runs.append(run) }
  }

  /// How much was noted at a time.
  package struct Mark: Hashable, Sendable {
    fileprivate let runs: Int
    fileprivate let lastIDs: Int
  }

  package var mark: Mark { Mark(runs: runs.count, lastIDs: runs.last?.ids.count ?? 0) }

  /// Forgets what was noted since, because it was undone.
  package mutating func forget(since mark: Mark) {
    runs.removeLast(runs.count - mark.runs)
    guard let last = runs.indices.last else { return }
    runs[last].ids.removeLast(runs[last].ids.count - mark.lastIDs)
  }
}
