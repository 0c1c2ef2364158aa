import Fieldpack
import FieldpackCore

/// Which layer of a source a command means.
enum LayerChoice {
  /// What recordings and monitors add to the layers of a file.
  private static let recorded: Set<LayerID> = [
    FieldData.track, FieldData.trackPoint, FieldData.detection, "photo",
  ]

  /// - Parameters:
  ///   - name: `nil` leaves it to the source, which then has to have one with geometry only; what was
  ///     recorded counts only where there is nothing else.
  ///   - stores: those that are asked, `nil` all.
  ///   - preferred: the layers of which the first that is there is taken where there are several.
  static func layer(
    _ name: LayerID?, of workspace: Workspace, named source: String, stores: [StoreID]?,
    preferring preferred: [LayerID]
  ) async throws(FieldpackError) -> (store: any Store, layer: LayerID) {
    var found: [(store: any Store, layer: LayerID)] = []
    let members = workspace.members.filter { stores?.contains($0.id) ?? true }
    for member in members {
      guard let store = member.store else {
        throw FieldpackError(
          .unavailable, "store '\(member.id)' of \(source) cannot be opened",
          location: .init(store: member.id))
      }
      for schema in try await store.schemas() where schema.geometry != nil {
        found.append((store, schema.layer))
      }
      // A store may know it by another name, and says which layers it has.
      if let name, members.count == 1 { return (store, name) }
    }
    let own = found.filter { !recorded.contains($0.layer) }
    if name == nil, !own.isEmpty { found = own }
    for name in name.map({ [$0] }) ?? (found.count > 1 ? preferred : []) {
      if let named = found.first(where: { $0.layer == name }) { return named }
    }
    if name == nil, found.count == 1 { return found[0] }
    let names = found.map(\.layer.rawValue)
    let layers = names.joined(separator: ", ")
    guard !found.isEmpty else {
      throw FieldpackError(.notFound, "\(source) has no layer with geometry")
    }
    guard let name else {
      throw FieldpackError(
        .invalidArgument, "\(source) has several layers. Try: one of \(layers)")
    }
    let question = NearNames.question(name.rawValue, in: names)
    throw FieldpackError(
      .notFound, "there is no layer '\(name)' in \(source)\(question) (it has: \(layers))")
  }
}
