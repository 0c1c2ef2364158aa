package import FieldpackSQLite

/// How far a GeoPackage is trusted when it is opened.
///
/// In both profiles files are read through connections that cannot write, SQL cannot change shadow
/// tables and the schema, cells of damaged pages are checked, and only known triggers of the file
/// run, unless ``runsTriggers`` is set.
public struct OpeningProfile: Hashable, Sendable {
  /// Lets every trigger of the file run, whatever it changes and calls. The number of steps that
  /// SQLite's virtual machine takes for a statement is limited then.
  ///
  /// Without it only known triggers run: those of the standard in its versions, those of GDAL's
  /// feature counts, and those of the change logs of SpatialConnect and GeoGig, told by their text.
  /// A change of a table with another trigger, or a change that would fire one, is refused
  /// (`.permission`); the error names the trigger.
  public var runsTriggers = false
  /// Who edits: what the change logs of the file say of each edit.
  public var editor: Editor?
  /// Whether readers of a ``foreign`` file copy pages from a mapping of the file, instead of having the
  /// system copy each. This suits a file that is read for a long time, as by a server: queries that touch
  /// many pages take a quarter less time. The first queries of a file that is not in memory take longer,
  /// because the system then reads more of the file at once. Tools that show the memory of a process
  /// count the mapping, which is not memory of its own.
  ///
  /// When another program cuts the file short, the file itself is read from then on: the process handles
  /// `SIGBUS` for that, and gives any other `SIGBUS` to the handler that was there before.
  ///
  /// It has no effect where a mapping may not show what others write, as on disks of other machines, and
  /// on other systems than Linux.
  public var mapsReads = false
  private let isOwn: Bool
  /// What errors call the file; `nil` for its path.
  package var shownPath: String?
  /// How long a processor may work for the file's views while the file is opened; `nil` for no limit.
  package var patience: Duration?
  /// What tells the time for ``patience``.
  package var clock = DeadlineClock.thread
  /// How many steps SQLite's virtual machine may take from one row of a view to the next.
  ///
  /// A sum over a hundred million rows takes as many. A view that gives rows without end is not
  /// limited by this; its reader has to stop.
  var viewSteps: Int?

  private init(isOwn: Bool) {
    self.isOwn = isOwn
    patience = isOwn ? nil : .seconds(5)
    viewSteps = isOwn ? nil : 2_000_000_000
  }

  /// A file that somebody else made or may have changed; the default.
  ///
  /// Values, statements, nesting and triggers have lower limits than SQLite's own. The schema is
  /// not trusted: views may call SQLite's plain functions and ours, but no virtual table. Opening
  /// (reading the catalogue and counting the rows of views) takes 5 s of a processor's work at most.
  /// A query of a view that gives no row for minutes is ended (`.invalidData`), by counting SQLite's
  /// steps. SQLite has a copy of its own of each page, also with ``mapsReads``.
  public static let foreign = OpeningProfile(isOwn: false)

  /// A file that the caller made and keeps to itself, for example a cache.
  ///
  /// The file is **mapped into memory**. This spares a copy of each page and is up to twice as fast
  /// for a query that touches many pages. When another program cuts the file short meanwhile, the
  /// process ends with the signal `SIGBUS`; no error can be thrown for that. Replacing or deleting
  /// the file is harmless.
  public static let own = OpeningProfile(isOwn: true)

  /// Whether R-trees are tried before they are believed.
  var doubtsIndexes: Bool { !isOwn }

  var connections: Connection.Profile { isOwn ? .own : .foreign }
}
