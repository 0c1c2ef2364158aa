import FieldpackCore
import FieldpackGeoPackage

extension ExportRun {
  /// What GeoPackages hold beside the layers that are exported, in words, a line a store.
  func leftBehind(_ targets: [ExportTarget]) async throws(FieldpackError) -> [Note] {
    var notes: [Note] = []
    for member in workspace.members {
      let layers = Set(
        targets.filter { $0.store == member.id }.map { $0.layer.rawValue.lowercased() })
      guard let store = member.store?.geoPackage, !layers.isEmpty else { continue }
      do throws(FieldpackError) {
        let kinds = try await leftBehind(in: store, beside: layers)
        guard !kinds.isEmpty else { continue }
        notes.append(
          Note(
            "only layers are exported; store '\(member.id)' also has "
              + kinds.joined(separator: ", ")))
      } catch  where error.code == .invalidData || error.code == .corrupt {
        notes.append(
          Note(
            "only layers are exported; what store '\(member.id)' has beside them cannot be read: ",
            error))
      }
    }
    return notes
  }

  /// What the store holds beside the layers, whose names are in lower case.
  private func leftBehind(
    in store: GeoPackageStore, beside layers: Set<String>
  ) async throws(FieldpackError) -> [String] {
    var kinds: [String] = []
    func add(_ count: Int, _ one: String, _ many: String) {
      if count > 0 { kinds.append("\(count) \(count == 1 ? one : many)") }
    }
    if query.layers.isEmpty {
      add(try await store.tilePyramids().count, "tile pyramid", "tile pyramids")
      add(try await store.metadataOverview().count, "metadata document", "metadata documents")
    }
    let relations = try await store.relations().filter {
      layers.contains($0.base.rawValue.lowercased())
        || layers.contains($0.related.rawValue.lowercased())
    }
    add(relations.count, "relation", "relations")
    return kinds
  }
}
