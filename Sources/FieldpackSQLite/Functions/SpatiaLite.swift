import CSpatiaLite

/// SpatiaLite's state for one connection; freed after the connection is closed, as SpatiaLite's
/// manual asks.
struct SpatiaLite {
  let version: String
  let cache: UnsafeMutableRawPointer

  /// Sets up the library's global state once in the process.
  static let isInitialized: Bool = {
    spatialite_initialize()
    return true
  }()

  /// Makes the state for a connection; the library has a limited number of them (64 in 5.0.1).
  static func allocate() -> UnsafeMutableRawPointer? {
    isInitialized ? spatialite_alloc_connection() : nil
  }

  func cleanUp() { spatialite_cleanup_ex(cache) }
}

extension Connection {
  /// Registers SpatiaLite's functions and turns on its GeoPackage mode; later calls only return the
  /// version. It makes no table and prints nothing.
  ///
  /// Some of SpatiaLite's functions have the names of ours (`ST_MinX` …), so the functions
  /// registered with ``register(function:arguments:flags:_:)`` are registered again.
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
