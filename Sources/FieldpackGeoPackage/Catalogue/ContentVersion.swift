package import FieldpackCore
import FieldpackSQLite

/// A version of a layer's content. It differs from an earlier one where the layer may have changed
/// since.
package struct ContentVersion: Hashable, Sendable {
  fileprivate let foreign: Int
  fileprivate let own: Int
  fileprivate let ownOfAny: Int
}

extension CommitWatch {
  /// Notes a commit of the store itself; `nil` where the store does not know which layers changed.
  package func noteOwn(_ layers: Set<LayerID>?) {
    state.withLock { state in
      guard let layers else {
        state.ownOfAny += 1
        return
      }
      for layer in layers { state.own[SQLName(layer.rawValue), default: 0] += 1 }
    }
  }

  fileprivate func version(
    of layer: LayerID, for watcher: Int
  ) throws(FieldpackError) -> ContentVersion {
    let foreign = try look(for: watcher)
    return state.withLock { state in
      ContentVersion(
        foreign: foreign, own: state.own[SQLName(layer.rawValue)] ?? 0, ownOfAny: state.ownOfAny)
    }
  }
}

extension GeoPackageStore {
  /// The current version of a layer.
  ///
  /// - Parameter watcher: the number that ``beginWatching()`` gave.
  /// - Throws: `.unavailable` where the store is closed or its file replaced.
  package func contentVersion(
    of layer: LayerID, for watcher: Int
  ) async throws(FieldpackError) -> ContentVersion {
    try await pools.lookForForeignCommits()
    return try watch.version(of: layer, for: watcher)
  }
}
