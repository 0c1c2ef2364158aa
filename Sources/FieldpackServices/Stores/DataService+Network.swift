import Fieldpack
import FieldpackCore

extension DataService {
  /// Why a store that runs is left out of the queries, other than that somebody paused it.
  enum RestCause {
    case service
    case network
  }

  /// Calls ``setConnected(_:)`` for each value until the task is cancelled, and with `true` at the end.
  public func follow(_ connected: some AsyncSequence<Bool, Never>) async {
    for await isConnected in connected { await setConnected(isConnected) }
    if !Task.isCancelled { await setConnected(true) }
  }

  /// Tells whether servers can be reached. Stores that ask a server at each query are paused without a
  /// network, and resumed with one. What failed for want of a network is tried again with it.
  public func setConnected(_ isConnected: Bool) async {
    guard isConnected != self.isConnected else { return }
    self.isConnected = isConnected
    let remote = workspace.members.filter { $0.config.isRemote }
    guard isConnected else {
      return rest(remote.filter { asksServer($0.config) }, for: .network)
    }
    wake(from: .network)
    for member in remote where member.state.error?.code == .unavailable { begin(member.id) }
  }

  func asksServer(_ config: StoreConfig) -> Bool {
    config.isRemote && (try? registry.downloadsFile(config)) == false
  }

  func rest(_ members: [Workspace.Member], for cause: RestCause) {
    for member in members {
      let isPaused = workspace.pause(member.id)
      // What somebody paused stays so.
      guard isPaused || resting[member.id] != nil else { continue }
      resting[member.id, default: []].insert(cause)
      if isPaused { send(StoreEvent(.paused, member.id, status: .paused)) }
    }
  }

  /// Takes the stores back that have no other cause to rest.
  func wake(from cause: RestCause) {
    for member in workspace.members {
      guard var causes = resting[member.id], causes.remove(cause) != nil else { continue }
      resting[member.id] = causes.isEmpty ? nil : causes
      guard causes.isEmpty, workspace.pause(member.id, false) else { continue }
      send(StoreEvent(.resumed, member.id, status: .running))
      tellWaiters(of: member.id)
    }
  }
}
