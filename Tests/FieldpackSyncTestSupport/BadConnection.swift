package import FieldpackCore
package import FieldpackServices
import FieldpackTestSupport

/// A connection that loses requests and replies, repeats them, and brings old ones late.
package final class BadConnection: SyncPeer {
  private struct State {
    var random: FilterGenerator.SplitMix
    var late: [(edits: [SyncEdit], layer: LayerID)] = []
  }

  private let peer: any SyncPeer
  package var name: String { "office" }
  private let state: Locked<State>
  /// Of 100 messages so many have bad luck.
  private let badLuck: Int

  package init(_ peer: any SyncPeer, seed: UInt64, badLuck: Int) {
    (self.peer, self.badLuck) = (peer, badLuck)
    state = Locked(State(random: FilterGenerator.SplitMix(state: seed)))
  }

  private func luck() -> Int { state.withLock { Int.random(in: 0..<100, using: &$0.random) } }

  private func lose() throws(FieldpackError) {
    if luck() < badLuck { throw FieldpackError(.unavailable, "lost") }
  }

  package func layers() async throws(FieldpackError) -> [SyncLayer] {
    try lose()
    return try await peer.layers()
  }

  package func edit(at position: Int64, of layer: LayerID) async throws(FieldpackError) -> String? {
    try await peer.edit(at: position, of: layer)
  }

  package func edits(
    of layer: LayerID, after position: Int64, limit: Int
  ) async throws(FieldpackError) -> SyncPage {
    try lose()
    return try await peer.edits(of: layer, after: position, limit: limit)
  }

  package func send(
    _ edits: [SyncEdit], of layer: LayerID
  ) async throws(FieldpackError) -> SyncReceipt {
    // The request is lost, and may arrive late.
    if luck() < badLuck {
      state.withLock { $0.late.append((edits, layer)) }
      throw FieldpackError(.unavailable, "lost")
    }
    if luck() < badLuck, let late = state.withLock({ $0.late.popLast() }) {
      _ = try? await peer.send(late.edits, of: late.layer)
    }
    let receipt = try await peer.send(edits, of: layer)
    if luck() < badLuck { _ = try await peer.send(edits, of: layer) }
    try lose()
    return receipt
  }
}
