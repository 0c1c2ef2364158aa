import CPROJ
import FieldpackGeometry

/// A `PJ_CONTEXT` without network, with PROJ's last message. Confined to one task at a time.
final class ProjectionContext {
  let handle: OpaquePointer
  private let log = PROJMessageLog()

  init() throws(ProjectionError) {
    guard let handle = proj_context_create() else {
      throw ProjectionError(.unavailable, "PROJ cannot make a context: out of memory")
    }
    self.handle = handle
    // PROJ_NETWORK=ON in the environment must not make results depend on the network.
    proj_context_set_enable_network(handle, 0)
    proj_log_level(handle, PJ_LOG_ERROR)
    proj_log_func(handle, Unmanaged.passUnretained(log).toOpaque()) { log, _, message in
      guard let log, let message else { return }
      Unmanaged<PROJMessageLog>.fromOpaque(log).takeUnretainedValue().last = String(
        cString: message)
    }
  }

  deinit { proj_context_destroy(handle) }

  /// PROJ's last message; it is removed by reading it.
  func takeMessage() -> String? {
    defer { log.last = nil }
    return log.last
  }

  /// Stops recording messages: a batch of a million bad points must not make a million strings.
  func silence() {
    proj_log_level(handle, PJ_LOG_NONE)
  }

  /// The object for a code in PROJ's database.
  func object(of srs: SRS) throws(ProjectionError) -> ProjectionObject {
    guard !srs.isUndefined else {
      throw ProjectionError(
        .undefinedSRS,
        "\(srs) says that the coordinates have no reference system. "
          + "Try: declare one, such as EPSG:4326, where the data come from")
    }
    let object = proj_create_from_database(
      handle, srs.organization, String(srs.code), PJ_CATEGORY_CRS, 0, nil)
    guard let object else { throw unknown(srs) }
    return ProjectionObject(object)
  }

  private func unknown(_ srs: SRS) -> ProjectionError {
    let said = takeMessage()
    guard proj_context_get_database_path(handle) != nil else {
      return ProjectionError(
        .unavailable,
        "PROJ cannot open its database proj.db (\(said ?? "not found")). Try: install proj-data")
    }
    let known = authorities
    guard known.contains(srs.organization) else {
      return ProjectionError(
        .unknownSRS,
        "PROJ knows no authority '\(srs.organization)' for \(srs) "
          + "(it has: \(known.joined(separator: ", ")))")
    }
    return ProjectionError(
      .unknownSRS,
      "PROJ knows no reference system \(srs). "
        + "Try: search its name at https://epsg.org or with 'projinfo --list-crs'")
  }

  private var authorities: [String] {
    guard let list = proj_get_authorities_from_database(handle) else { return [] }
    defer { proj_string_list_destroy(list) }
    var names: [String] = []
    var next = list
    while let name = next.pointee {
      names.append(String(cString: name))
      next += 1
    }
    return names.sorted()
  }
}

private final class PROJMessageLog {
  var last: String?
}

/// Owns a `PJ *` and destroys it.
struct ProjectionObject: ~Copyable {
  let handle: OpaquePointer

  init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  deinit { proj_destroy(handle) }
}
