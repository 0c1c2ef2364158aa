import CSQLite
import CSpatiaLite

/// Facts about the SQLite and SpatiaLite that this program runs with.
public enum SQLiteLibrary {
  /// SQLite's version, for example "3.40.1".
  public static var version: String { String(cString: sqlite3_libversion()) }

  /// The least version that has all features we use, such as `UPDATE … FROM` and generated columns
  /// (2020).
  public static let leastVersion = 3_034_000

  public static var isRecent: Bool { sqlite3_libversion_number() >= leastVersion }

  /// The compile options that we need and this build of SQLite lacks.
  public static var missingOptions: [String] {
    var missing: [String] = []
    if sqlite3_compileoption_used("ENABLE_RTREE") == 0 { missing.append("ENABLE_RTREE") }
    if sqlite3_threadsafe() == 0 { missing.append("THREADSAFE") }
    for option in ["OMIT_AUTHORIZATION", "OMIT_DECLTYPE", "OMIT_PROGRESS_CALLBACK", "OMIT_WAL"] {
      if sqlite3_compileoption_used(option) != 0 { missing.append("no \(option)") }
    }
    return missing
  }

  /// Tells SQLite to keep no statistics of its memory. For them it locks a mutex with each allocation.
  ///
  /// To be called when a program starts: once SQLite is in use, the call has no effect.
  package static func skipMemoryStatistics() {
    _ = fieldpack_sqlite_skip_memory_statistics()
  }

  /// SpatiaLite's version, for example "5.0.1"; the library is not initialised.
  public static var spatiaLiteVersion: String { String(cString: spatialite_version()) }
}
