import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

/// What a store holds beside its layers.
struct StoreExtras {
  var pyramids: [TilePyramid] = []
  var relations: [Relation] = []
  /// The tables that are in no catalogue.
  var uncatalogued: [String] = []
  /// How many metadata documents there are, and how many are about each layer, by its name in
  /// lower case.
  var metadataCount = 0
  private var metadata: [String: Set<Int64>] = [:]

  init() {}

  /// What `store` has; nothing where its tables for it are damaged, which is no reason to hide its
  /// layers.
  init(_ store: any Store) async throws(FieldpackError) {
    do throws(FieldpackError) {
      pyramids = try await (store as? any RasterStore)?.tilePyramids() ?? []
      guard let store = store.geoPackage else { return }
      relations = try await store.relations()
      let (count, references) = try await store.metadataOverview()
      metadataCount = count
      for reference in references {
        guard let layer = reference.subject.layer else { continue }
        metadata[layer.rawValue.lowercased(), default: []].insert(reference.metadata)
      }
      uncatalogued = try await store.uncataloguedTables()
    } catch  where error.code == .invalidData || error.code == .corrupt {
      return
    }
  }

  func metadataCount(of layer: LayerID) -> Int {
    metadata[layer.rawValue.lowercased()]?.count ?? 0
  }

  /// The relations from the layer, then those to it from others.
  func relations(at layer: LayerID) -> (from: [Relation], to: [Relation]) {
    func isLayer(_ name: LayerID) -> Bool {
      name.rawValue.lowercased() == layer.rawValue.lowercased()
    }
    return (
      relations.filter { isLayer($0.base) },
      relations.filter { isLayer($0.related) && !isLayer($0.base) }
    )
  }
}

extension MetadataSubject {
  fileprivate var layer: LayerID? {
    switch self {
    case .geoPackage: nil
    case .layer(let layer), .column(_, of: let layer), .row(_, of: let layer),
      .value(_, row: _, of: let layer):
      layer
    }
  }
}

extension TilePyramid {
  /// `0-3, 7`
  var zoomText: String {
    var runs: [ClosedRange<Int>] = []
    for zoom in matrices.map(\.zoom) {
      if let last = runs.last, zoom == last.upperBound + 1 {
        runs[runs.count - 1] = last.lowerBound...zoom
      } else {
        runs.append(zoom...zoom)
      }
    }
    return runs.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
      .joined(separator: ", ")
  }
}
