import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

/// What a tile is made of.
enum TileSource: Sendable {
  /// A tile pyramid, or the tiles of a server.
  case pictures(any RasterStore, LayerID)
  /// A layer with geometries.
  case features(GeoPackageStore, LayerID)

  fileprivate var layer: LayerID {
    switch self {
    case .pictures(_, let layer), .features(_, let layer): layer
    }
  }

  fileprivate var store: StoreID {
    switch self {
    case .pictures(let store, _): store.id
    case .features(let store, _): store.id
    }
  }

  fileprivate var hasPictures: Bool { if case .pictures = self { true } else { false } }
}

extension OpenedSource {
  /// The tiles or the layer of that name, those of the store of that name, or the only ones. Tiles come
  /// before layers, where no layer is named.
  func tiles(_ name: LayerID?) async throws(FieldpackError) -> TileSource {
    let known = try await known(name)
    guard let name else {
      return try only(known.filter(\.hasPictures).nonempty ?? known, nil, known)
    }
    let wanted = name.rawValue.lowercased()
    if let found = known.filter({ $0.layer.rawValue.lowercased() == wanted }).nonempty {
      return try only(found, name, known)
    }
    let stored = known.filter { $0.store.rawValue == name.rawValue }
    if let found = (stored.filter(\.hasPictures).nonempty ?? stored).nonempty {
      return try only(found, name, known)
    }
    // The only store says itself what it has.
    if Set(known.map(\.store)).count == 1, case .pictures(let store, _)? = known.first {
      return .pictures(store, name)
    }
    return try only([], name, known)
  }

  /// All tile pyramids, then all layers with geometries.
  private func known(_ name: LayerID?) async throws(FieldpackError) -> [TileSource] {
    var (pictures, features): ([TileSource], [TileSource]) = ([], [])
    for member in workspace.members {
      guard member.store != nil || member.id.rawValue == name?.rawValue else { continue }
      let opened = try workspace.store(member.id)
      if let store = opened as? any RasterStore {
        for pyramid in try await store.tilePyramids() {
          pictures.append(.pictures(store, pyramid.name))
        }
      }
      if let store = opened.geoPackage {
        for schema in try await store.schemas() where schema.geometry != nil {
          features.append(.features(store, schema.layer))
        }
      }
    }
    return pictures + features
  }

  private func only(
    _ found: [TileSource], _ name: LayerID?, _ known: [TileSource]
  ) throws(FieldpackError) -> TileSource {
    guard found.count != 1 else { return found[0] }
    let names = (found.nonempty ?? known).map { "\($0.store)/\($0.layer)" }
      .joined(separator: ", ")
    guard !found.isEmpty else {
      throw FieldpackError(
        .notFound,
        "\(self.name) has no tiles"
          + (name.map { " '\($0)'" } ?? "") + (names.isEmpty ? "" : " (it has: \(names))"))
    }
    let what = found.contains(where: \.hasPictures) ? "tile pyramids" : "layers"
    throw FieldpackError(
      .invalidArgument, "\(self.name) has several \(what) (\(names)). Try: FILE:LAYER")
  }
}

extension Array {
  fileprivate var nonempty: [Element]? { isEmpty ? nil : self }
}
