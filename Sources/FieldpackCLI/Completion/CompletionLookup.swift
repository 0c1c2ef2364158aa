import Fieldpack
import FieldpackCore
import FieldpackGeometry

extension CompletionValues {
  /// Looks stores, layers, columns and reference systems up in the files that are typed.
  static let files = CompletionValues(
    stores: { source in await CompletionLookup(source).stores() },
    layers: { source in await CompletionLookup(source).layers() },
    forms: { source in CompletionLookup(source).forms() },
    columns: { source, layers in await CompletionLookup(source).columns(of: layers) },
    srs: { source in await CompletionLookup.srs(of: source) })
}

/// Looks into one source while someone waits: what is not found in time is not offered.
struct CompletionLookup {
  private let source: String
  private let open: @Sendable (String) async throws -> Workspace

  private static let patience = Duration.seconds(1)

  /// - Parameter open: opens the source; cancelled where it takes too long.
  init(
    _ source: String,
    open: @escaping @Sendable (String) async throws -> Workspace = {
      try await Workspace.open(source: $0)
    }
  ) {
    self.source = source
    self.open = open
  }

  func stores() async -> [CompletionCandidate] {
    let configs = try? WorkspaceConfig([source])
    if let stores = configs?.stores, Format.byExtension(source) != .geoPackage {
      return stores.map { CompletionCandidate($0.id.rawValue, $0.typeIdentifier) }
    }
    return [CompletionCandidate(FileImport.storeID(of: source).rawValue)]
  }

  func layers() async -> [CompletionCandidate] {
    await schemas().map { schema in
      let geometry = schema.geometry.map { "\($0.type.name), \($0.srs)" } ?? "no geometry"
      return CompletionCandidate(schema.layer.rawValue, geometry)
    }
  }

  func forms() -> [CompletionCandidate] {
    let configs = try? WorkspaceConfig([source])
    return (configs?.forms ?? []).map { CompletionCandidate($0.key, $0.label) }
  }

  func columns(of layers: [String]) async -> [CompletionCandidate] {
    let all = await schemas()
    let named = all.filter { schema in layers.contains(schema.layer.rawValue) }
    var columns: [CompletionCandidate] = []
    for schema in named.isEmpty ? all : named {
      for column in schema.columns where !columns.contains(where: { $0.word == column.name }) {
        columns.append(CompletionCandidate(column.name, column.type.sql))
      }
    }
    return columns
  }

  static func srs(of source: String?) async -> [CompletionCandidate] {
    var found: [CompletionCandidate] = []
    if let source {
      for srs in await CompletionLookup(source).schemas().compactMap(\.geometry?.srs)
      where !srs.isUndefined && !found.contains(where: { $0.word == srs.description }) {
        let known = common.first { $0.word == srs.description }
        found.append(known ?? CompletionCandidate(srs.description))
      }
    }
    return found + common.filter { candidate in !found.contains { $0.word == candidate.word } }
  }

  private static let common = [
    CompletionCandidate("EPSG:4326", "WGS 84, degrees"),
    CompletionCandidate("EPSG:3857", "Web Mercator"),
    CompletionCandidate("EPSG:4258", "ETRS89, degrees"),
    CompletionCandidate("EPSG:25832", "ETRS89, UTM zone 32N"),
    CompletionCandidate("EPSG:25833", "ETRS89, UTM zone 33N"),
    CompletionCandidate("EPSG:32632", "WGS 84, UTM zone 32N"),
    CompletionCandidate("EPSG:32633", "WGS 84, UTM zone 33N"),
    CompletionCandidate("EPSG:2056", "Switzerland, LV95"),
    CompletionCandidate("EPSG:2154", "France, Lambert-93"),
    CompletionCandidate("EPSG:27700", "Great Britain, National Grid"),
  ]

  /// The schemas of all layers; none where the source cannot be read, or not in time.
  private func schemas() async -> [Schema] {
    let (source, open) = (source, open)
    let search = Task.detached { () -> [Schema] in
      guard let workspace = try? await open(source) else { return [] }
      var schemas: [Schema] = []
      for member in workspace.members {
        schemas += (try? await member.store?.schemas()) ?? []
      }
      await workspace.close()
      return schemas
    }
    let timer = Task.detached {
      try? await Task.sleep(for: Self.patience)
      search.cancel()
    }
    defer { timer.cancel() }
    return await search.value
  }
}
