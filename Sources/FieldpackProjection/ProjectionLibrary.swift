import CPROJ

/// What is known of the PROJ that this program runs with.
public struct ProjectionLibrary: Hashable, Sendable {
  /// For example "9.1.1".
  public var version: String
  /// Where `proj.db` lies; `nil` where PROJ finds none, and then knows no reference system.
  public var databasePath: String?
  /// The version of EPSG's registry in it, for example "v10.076".
  public var epsgVersion: String?
  /// Whether PROJ may fetch grids; never, whatever the environment says.
  public var usesNetwork: Bool

  /// Asks PROJ.
  public init() throws(ProjectionError) {
    let context = try ProjectionContext()
    let handle = context.handle
    version = proj_info().version.map { String(cString: $0) } ?? ""
    databasePath = proj_context_get_database_path(handle).map { String(cString: $0) }
    epsgVersion = proj_context_get_database_metadata(handle, "EPSG.VERSION").map {
      String(cString: $0)
    }
    usesNetwork = proj_context_is_network_enabled(handle) != 0
  }
}
