import CPROJ

/// Facts about the PROJ that this program runs with.
public struct ProjectionLibrary: Hashable, Sendable {
  /// PROJ's version, for example "9.1.1".
  public var version: String
  /// The path of `proj.db`; `nil` where PROJ does not find it, and then knows no reference system.
  public var databasePath: String?
  /// The version of EPSG's registry in `proj.db`, for example "v10.076".
  public var epsgVersion: String?
  /// Whether PROJ may fetch grids: never, independent of the environment.
  public var usesNetwork: Bool

  /// Reads the facts from PROJ.
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
