import Fieldpack
import FieldpackCore
import FieldpackPostGIS
import FieldpackServer

/// `fieldpack serve CONFIG:STORE`.
extension ServeCommand {
  /// What is served, as it was named.
  var shownSource: String {
    options.source.path + (options.source.layer.map { ":\($0)" } ?? "")
  }

  func serveDatabase(at address: ListenAddress) async throws(FieldpackError) -> Int32 {
    try refuseOptionsOfFiles()
    OpenFiles.allowMost()
    let webhooks = try options.live.allWebhooks()
    return try await invocation.withDatabase(
      options.source, allowing: options.allowsPaths, profile: options.profile,
      otherwise: "cannot be served as a database. Try: fieldpack serve FILE, with its GeoPackage"
    ) { (store) async throws(FieldpackError) -> Int32 in
      #if PostGIS
        return try await serve(store.id, at: address, webhooks, nil) { settings in
          FieldServer(ofDatabase: ServedPostGIS(store), options: settings)
        }
      #else
        throw store.missing
      #endif
    }
  }

  private func refuseOptionsOfFiles() throws(FieldpackError) {
    let given = [
      ("--sensors", options.hasSensors), ("--log-interactions", options.logsInteractions),
      ("--camera", !options.cameras.isEmpty), ("--public-captures", options.hasPublicCaptures),
      ("--config", options.config != nil), ("--bundles", options.bundles != nil),
      ("--fixes", options.positions.name != nil),
      ("--allow-triggers", options.profile.runsTriggers),
    ]
    let names = given.filter(\.1).map(\.0) + options.live.watching
    guard let first = names.first else { return }
    throw FieldpackError(
      .invalidArgument,
      "\(first) is for GeoPackages alone, and \(shownSource) is a store of a config")
  }
}
