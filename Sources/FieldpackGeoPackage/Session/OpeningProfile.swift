import FieldpackSQLite

/// How far a GeoPackage is trusted when it is opened.
///
/// In both profiles files are read through connections that cannot write, shadow tables and the
/// schema are closed to SQL, cells of damaged pages are checked, and no trigger of the file runs that
/// is not known, unless ``runsTriggers`` is set.
public struct OpeningProfile: Hashable, Sendable {
  /// Lets every trigger of the file run, whatever it changes and calls, for a limited number of steps
  /// of SQLite's machine a statement.
  ///
  /// Otherwise those alone run whose text is one of the standard and its versions, of GDAL's counts,
  /// or of the logs of changes of SpatialConnect and GeoGig. A change of a table with another one,
  /// or one that would fire another one, is refused (`.permission`), with the trigger's name.
  public var runsTriggers = false
  private let isOwn: Bool
  /// How long the file's own code may run before anybody asked for it.
  package var patience: Duration?
  /// How many instructions of SQLite's machine a view of the file may take to its next row.
  ///
  /// A sum over a hundred million rows takes as many. Rows that come for ever are the reader's to end.
  var viewSteps: Int?

  private init(isOwn: Bool) {
    self.isOwn = isOwn
    patience = isOwn ? nil : .seconds(5)
    viewSteps = isOwn ? nil : 2_000_000_000
  }

  /// A file that somebody else made or may have changed; the default.
  ///
  /// Values, statements, nesting and triggers have lower limits. The schema is not trusted: views
  /// call SQLite's plain functions and ours, and no virtual table. What is read of the file before
  /// anybody asks a query (the catalogue, and the counts of views) takes 5 s at most; a query of a
  /// view that goes on for minutes without a row is ended (`.invalidData`), by the number of SQLite's
  /// steps. Nothing is mapped into memory.
  public static let foreign = OpeningProfile(isOwn: false)

  /// A file that the caller made and keeps to itself, for example a cache.
  ///
  /// Reading goes through a **mapped file**, which spares a copy of each page and is up to twice as
  /// fast where a query touches many. When anybody cuts the file short meanwhile, the process ends
  /// with the signal `SIGBUS`: no error can be thrown for that. Replacing the file by another, or
  /// deleting it, is harmless.
  public static let own = OpeningProfile(isOwn: true)

  var connections: Connection.Profile { isOwn ? .own : .foreign }
}
