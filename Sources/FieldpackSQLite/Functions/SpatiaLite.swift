import CSpatiaLite

/// SpatiaLite's state of one connection; given back after the connection is closed, as its
/// manual asks.
struct SpatiaLite {
  let version: String
  let cache: UnsafeMutableRawPointer

  /// Sets up the library's global state once in the process.
  static let isInitialized: Bool = {
    spatialite_initialize()
    return true
  }()

  /// The library serves a limited number of connections (64 in 5.0.1).
  static func allocate() -> UnsafeMutableRawPointer? {
    isInitialized ? spatialite_alloc_connection() : nil
  }

  func cleanUp() { spatialite_cleanup_ex(cache) }
}

extension Connection {
  /// Registers SpatiaLite's functions and turns on its GeoPackage mode; later calls only tell the
  /// version. No table is made and nothing is printed.
  ///
  /// SpatiaLite has functions of the same names as ours (`ST_MinX` …); the functions registered
  /// with ``register(function:arguments:flags:_:)`` are put back in force.
  /// - Returns: SpatiaLite's version, for example "5.0.1".
  @discardableResult
  public func loadSpatiaLite() throws(SQLiteError) -> String {
    if let spatiaLite { return spatiaLite.version }
    guard let cache = SpatiaLite.allocate() else {
      throw .misuse("SpatiaLite cannot serve another connection")
    }
    spatiaLite = SpatiaLite(version: String(cString: spatialite_version()), cache: cache)
    try withoutAuthorizer { () throws(SQLiteError) in
      spatialite_init_ex(handle, cache, 0)
      _ = try scalar("SELECT EnableGpkgMode()")
      try registerFunctionsAgain()
    }
    return String(cString: spatialite_version())
  }
}
