public import FieldpackCore
public import FieldpackGeoPackage
import FieldpackSQLite

/// Checks a GeoPackage against the standard, 1.0 to 1.4, with its extensions, and checks that its
/// parts agree.
///
/// Rows are read once, and again after a repair. They are lent, so memory is bounded. Without a
/// repair or an upgrade the file is opened for reading only. Views run for a limited time. Blocks
/// the calling thread; not `Sendable`.
public final class GeoPackageChecker: CancellableJob {
  private let options: CheckOptions
  private let path: String
  /// `nil` where SQLite cannot open the file; `failure` tells why.
  private let connection: Connection?
  private let failure: SQLiteError?
  private var groups: FindingGroups
  private let store: StoreID

  /// - Throws: `.notFound`, `.permission`, `.readOnly`, `.busy`, `.io`. If the file is no
  ///   GeoPackage, or no database, this is a finding and no error.
  public init(
    path: String, store: StoreID, options: CheckOptions = CheckOptions()
  ) throws(FieldpackError) {
    self.options = options
    self.path = path
    self.store = store
    groups = FindingGroups(limit: options.findingLimit)
    let writes = options.repairs || options.upgrade != nil
    do throws(SQLiteError) {
      let opened = try Connection(
        path: path, mode: writes ? .readWrite : .readOnly, profile: writes ? .bulk : .foreign)
      if writes { try Self.distrust(opened) }
      connection = opened
      failure = nil
    } catch {
      guard error.isNotADatabase || error.isCorrupt else {
        throw FieldpackError(error, path: path, location: .init(store: store))
      }
      connection = nil
      failure = error
    }
  }

  /// Restricts what a foreign file can do on a connection that may write shadow tables.
  private static func distrust(_ connection: Connection) throws(SQLiteError) {
    try connection.setTriggers(areEnabled: false)
    try connection.distrust()
    connection.limit(.length, to: 256 << 20)
  }

  /// Stops the work from any thread. The running call throws `.interrupted`.
  public var interrupt: @Sendable () -> Void {
    guard let handle = connection?.interruptHandle else { return {} }
    return { handle.stop() }
  }

  /// Runs the check in one read transaction, or with its repairs in one write transaction.
  ///
  /// - Throws: `.invalidArgument` for an upgrade to an older version; `.busy`, `.full`, `.io`,
  ///   `.interrupted`. After an error nothing is changed.
  public func run() throws(FieldpackError) -> CheckReport {
    guard let connection else { return try unreadable() }
    let file: GeoPackageSession
    do throws(SQLiteError) {
      StatementLog.attach(to: connection, options.logger)
      file = try GeoPackageSession(connection, store: store, path: path, profile: profile)
    } catch {
      throw FieldpackError(error, path: path, location: .init(store: store))
    }
    // A write transaction would turn an empty file into a database.
    guard try file.integer("PRAGMA page_count") != 0 else {
      return try alone(ConformanceFinding(.error, .core(1), "the file is empty"))
    }
    let mends = options.repairs || options.upgrade != nil
    try file.execute(mends ? "BEGIN IMMEDIATE" : "BEGIN")
    do throws(FieldpackError) {
      let (report, isChanged) = mends ? try mend(file) : (try look(file), false)
      connection.clearStatementCache()
      try file.execute(isChanged ? "COMMIT" : "ROLLBACK")
      return report
    } catch {
      connection.clearStatementCache()
      // If the rollback fails, closing the connection rolls back.
      try? file.execute("ROLLBACK")
      throw error
    }
  }

  private var profile: OpeningProfile {
    var profile = OpeningProfile.foreign
    // Triggers are off on this connection, so no guard is needed.
    profile.runsTriggers = true
    (profile.patience, profile.clock) = (options.patience, options.clock)
    return profile
  }

  private func unreadable() throws(FieldpackError) -> CheckReport {
    guard failure?.isCorrupt == true else {
      return try alone(ConformanceFinding(.error, .core(1), "the file is no SQLite database"))
    }
    var report = try alone(
      ConformanceFinding(
        .error, .core(6), "the file cannot be read: \(failure?.message ?? "")"))
    if options.repairs || options.upgrade != nil { report.notes = [Self.damageNote] }
    return report
  }

  /// A report with this finding only.
  private func alone(_ finding: ConformanceFinding) throws(FieldpackError) -> CheckReport {
    try options.receive?(finding)
    groups.add(finding)
    var report = CheckReport()
    report.groups = groups.sorted
    return report
  }

  private static let damageNote =
    "nothing was mended: pages of the file are damaged. Try: sqlite3 FILE .recover"
  private static let strangerNote = "nothing was mended: it has no tables of a GeoPackage"

  // MARK: Looking

  private func look(_ file: GeoPackageSession) throws(FieldpackError) -> CheckReport {
    let version = try declaredVersion(file)
    let check = self.check(file, version: version ?? Self.assumedVersion) {
      [self] (finding) throws(FieldpackError) in
      try options.receive?(finding)
      groups.add(finding)
    }
    try check.run()
    var report = CheckReport()
    report.version = version.map(DeclaredVersion.text)
    report.groups = groups.sorted
    report.rowCount = check.rowCount
    return report
  }

  /// The assumed version of a file that states none: the first version with a number of its own.
  private static let assumedVersion = 10_200

  private func declaredVersion(_ file: GeoPackageSession) throws(FieldpackError) -> Int? {
    let application = try file.integer("PRAGMA application_id") ?? 0
    let user = try file.integer("PRAGMA user_version") ?? 0
    return DeclaredVersion(application: application, user: user).number
  }

  private func check(
    _ file: GeoPackageSession, version: Int,
    receive: @escaping (ConformanceFinding) throws(FieldpackError) -> Void
  ) -> ConformanceCheck {
    let options = options
    return ConformanceCheck(
      file, version: version, patience: options.patience, checksValidity: options.checksValidity,
      progress: { (done) throws(FieldpackError) in try options.progress?(done) }, receive: receive)
  }

  // MARK: Mending

  private func mend(
    _ file: GeoPackageSession
  ) throws(FieldpackError) -> (CheckReport, isChanged: Bool) {
    var repairer = Repairer(file: file)
    let isUpgraded = try upgrade(file, &repairer)
    var known: Set<Repair> = []
    // A repair may uncover more to repair, but seldom more than once.
    for _ in 0..<Self.greatestRounds {
      let version = try declaredVersion(file) ?? Self.assumedVersion
      let check = check(file, version: version) { _ in }
      try check.run()
      guard !check.isDamaged, check.isGeoPackage else {
        return (try unmended(file, check.isDamaged ? Self.damageNote : Self.strangerNote), false)
      }
      let repairs = check.repairs.subtracting(known).filter {
        options.repairs || isUpgraded && $0.isUpgrade
      }
      try repairer.apply(repairs)
      known.formUnion(repairs)
      guard repairs.contains(where: \.unlocksMore) else { break }
    }
    var report = try look(file)
    report.repairs = repairer.done
    report.notes += repairer.failures
    return (report, !repairer.done.isEmpty)
  }

  private static let greatestRounds = 4

  /// The report on the file without repairs.
  private func unmended(
    _ file: GeoPackageSession, _ note: String
  ) throws(FieldpackError) -> CheckReport {
    file.connection.clearStatementCache()
    try file.execute("ROLLBACK")
    try file.execute("BEGIN")
    var report = try look(file)
    report.notes.append(note)
    return report
  }

  /// Upgrades the file to the wanted version; `false` where it has that version.
  private func upgrade(
    _ file: GeoPackageSession, _ repairer: inout Repairer
  ) throws(FieldpackError) -> Bool {
    guard let target = options.upgrade else { return false }
    let current = try declaredVersion(file)
    let wanted = target.userVersion
    if let current, current / 100 > wanted / 100 {
      throw FieldpackError(
        .invalidArgument,
        "the file is of version \(DeclaredVersion.text(current)), and \(target.rawValue) is older",
        location: .init(store: store))
    }
    if let current, current / 100 == wanted / 100 { return false }
    try file.execute("PRAGMA application_id = \(GeoPackageVersion.applicationID)")
    try file.execute("PRAGMA user_version = \(wanted)")
    let before = current.map { "from version \(DeclaredVersion.text($0))" } ?? "from no version"
    repairer.note("upgraded \(before) to \(target.rawValue)")
    return true
  }
}
