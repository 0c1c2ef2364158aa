import Fieldpack
import FieldpackCore
import FieldpackGeometry
import FieldpackTopology

/// What geometries are cut to, as the user names it.
enum ClipArea: Hashable, Sendable {
  case box(Envelope)
  case polygons(Geometry)
  /// The polygons of a layer.
  case layer(SourceName)
}

extension ValueForm where Value == ClipArea {
  /// Four numbers, WKT, or a source.
  static var clipArea: ValueForm {
    ValueForm(
      "w,s,e,n|WKT|file", completion: .source(SourceArguments.extensions)
    ) { (text) throws(ValueError) -> ClipArea in
      let source = try SourceName(text)
      if source.exists { return .layer(source) }
      // Numbers and commas are a box, and words with a bracket a geometry.
      if text.contains(","), text.allSatisfy({ "0123456789.,-+eE ".contains($0) }) {
        return .box(try ValueForm<Envelope>.box.read(text))
      }
      guard text.contains("(") || text.uppercased().hasSuffix("EMPTY") else {
        throw ValueError("is neither a file that exists, nor w,s,e,n, nor WKT")
      }
      do throws(GeometryError) {
        return .polygons(try WKT.read(text))
      } catch {
        throw ValueError("is no WKT: \(error)")
      }
    }
  }
}

extension Invocation {
  /// - Parameter srs: of a box or polygon; `nil` is longitude and latitude.
  func clip(
    _ area: ClipArea, srs: SRS?
  ) async throws(FieldpackError) -> GeometryOperations.Clip {
    switch area {
    case .box(let box): return .init(box, srs: srs ?? .wgs84)
    case .polygons(let polygons): return .init(polygons, srs: srs ?? .wgs84)
    case .layer(let source):
      guard srs == nil else {
        throw FieldpackError(
          .invalidArgument,
          "\(source.path) says itself which SRS it is in. Try: without --clip-srs")
      }
      return try await clip(source)
    }
  }

  /// The polygons of a layer, mended and melted into one, in the SRS of the layer.
  private func clip(_ name: SourceName) async throws(FieldpackError) -> GeometryOperations.Clip {
    try await withSource(name.path, SourceArguments()) { (source) throws(FieldpackError) in
      let (store, layer) = try await LayerChoice.layer(
        name.layer, of: source.workspace, named: source.name, stores: nil, preferring: [])
      var mending = GeometryOperations()
      mending.makesValid = true
      let query = Query(layer).select([]).applying(mending)
      let prepared = try await store.prepare(query)
      var areas: [Geometry] = []
      for try await batch in try await prepared.batches() {
        for row in 0..<batch.count {
          guard let geometry = try batch.feature(at: row).geometry else { continue }
          areas += geometry.areas
        }
      }
      do throws(TopologyError) {
        if let union = try Geometry.union(of: areas), !union.isEmpty {
          return .init(union, srs: prepared.layers.first?.schema.geometry?.srs)
        }
      } catch {
        throw FieldpackError(
          .invalidArgument, "the polygons of \(source.name) cannot be melted: \(error.message)")
      }
      throw FieldpackError(
        .invalidArgument, "layer '\(layer)' of \(source.name) has no polygon to cut to")
    }
  }
}

extension Geometry {
  /// The polygons of a geometry.
  fileprivate var areas: [Geometry] {
    switch linearized() {
    case .polygon(let rings, let dimensions): [.polygon(rings, dimensions)]
    case .multiPolygon(let polygons, let dimensions): polygons.map { .polygon($0, dimensions) }
    case .geometryCollection(let members, _): members.flatMap(\.areas)
    default: []
    }
  }
}
