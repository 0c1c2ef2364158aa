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

  /// Refuses to write an empty file of stores that have tile pyramids and no layer.
  func refuseTilesAlone() async throws(FieldpackError) {
    for member in workspace.members {
      guard let store = member.store?.geoPackage else { continue }
      let names = try await store.tilePyramids().map { "'\($0.name)'" }
      guard !names.isEmpty else { continue }
      throw FieldpackError(
        .unsupported,
        "store '\(member.id)' has no layer to export, only tile pyramids, which go to "
          + "MBTiles files and to folders: "
          + names.joined(separator: ", "), location: .init(store: member.id))
    }
  }

  /// The first layer in a local system, such as that of a building site, with the system's name: no
  /// transformation leads from there to WGS 84.
  func localSystem(
    of targets: [ExportTarget]
  ) async throws(FieldpackError) -> (layer: LayerID, name: String)? {
    for target in targets {
      guard let srs = target.schema.geometry?.srs, srs != .wgs84,
        let store = try workspace.store(target.store).geoPackage,
        let system = try await store.systems().first(where: { $0.srs == srs }), system.isLocal
      else { continue }
      return (target.layer, system.name)
    }
    return nil
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
    let logs = try await store.read { (snapshot) throws(FieldpackError) in
      try snapshot.loggedLayers()
    }
    let taken = logs.filter { layers.contains($0.rawValue.lowercased()) }
    add(taken.count, "change log", "change logs")
    return kinds
  }
}
