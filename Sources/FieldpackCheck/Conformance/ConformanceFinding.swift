public import FieldpackCore
public import FieldpackGeoPackage
public import FieldpackGeometry
import FieldpackSQLite

/// One finding of a check: the requirement, the location and the reason.
public struct ConformanceFinding: Hashable, Sendable {
  public enum Level: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Violates a requirement, or makes an answer wrong.
    case error
    /// Allowed, or harmless to most programs; but some fail with it.
    case warning
    /// For information.
    case note

    public static func < (left: Level, right: Level) -> Bool {
      left.weight < right.weight
    }

    private var weight: Int {
      switch self {
      case .error: 0
      case .warning: 1
      case .note: 2
      }
    }
  }

  public var level: Level
  public var requirement: Requirement
  /// The table or view, as the file spells it; `nil` for the file as a whole.
  public var table: String?
  public var column: String?
  /// The id of the row; for a feature its feature id.
  public var row: Int64?
  /// Where in the geometry the mistake is, in its SRS.
  public var place: Position?
  /// What is wrong.
  public var reason: String
  /// Whether a repair can mend it.
  public var isMendable: Bool

  public init(
    _ level: Level, _ requirement: Requirement, table: String? = nil, column: String? = nil,
    row: Int64? = nil, place: Position? = nil, _ reason: String, isMendable: Bool = false
  ) {
    self.level = level
    self.requirement = requirement
    self.table = table
    self.column = column
    self.row = row
    self.place = place
    self.reason = reason
    self.isMendable = isMendable
  }
}

/// Findings of one level against one requirement in one table.
public struct FindingGroup: Hashable, Sendable {
  public var level: ConformanceFinding.Level
  public var requirement: Requirement
  public var table: String?
  /// The number of findings.
  public var count: Int
  /// The first findings, up to the limit.
  public var findings: [ConformanceFinding]
}

/// One change that a repair or an upgrade made.
public struct ConformanceRepair: Hashable, Sendable {
  public var table: String?
  /// What was done.
  public var detail: String
}

/// What a check does.
public struct CheckOptions: Sendable {
  /// Whether the file is repaired as far as possible.
  public var repairs = false
  /// Whether geometries are checked to be valid by OGC Simple Features, and repaired too.
  public var checksValidity = false
  /// The version that an older file is upgraded to; `nil` for no upgrade.
  public var upgrade: GeoPackageVersion?
  /// How many findings of a group the report keeps. ``receive`` gets all findings.
  public var findingLimit = 10
  /// Called with each finding; after a repair with each remaining finding. Throws to stop.
  public var receive: (@Sendable (ConformanceFinding) throws(FieldpackError) -> Void)?
  /// Gets each step and its duration; never a value.
  public var logger = Logger.silent
  /// Called now and then with the number of rows read. Throws to stop.
  public var progress: (@Sendable (Int) throws(FieldpackError) -> Void)?
  /// How long a view may run.
  var patience = Duration.seconds(10)
  /// What tells the time that views run.
  var clock = DeadlineClock.system

  public init() {}
}

/// The result of checking a GeoPackage.
public struct CheckReport: Hashable, Sendable {
  /// The version that the file states, `1.0` to `1.4` or later; `nil` where it states none.
  public var version: String?
  /// Errors first, then by requirement in the standard's order, then by table.
  public var groups: [FindingGroup] = []
  /// What a repair or an upgrade did, in order.
  public var repairs: [ConformanceRepair] = []
  /// Repairs that failed, with the reasons.
  public var notes: [String] = []
  /// How many rows of layers, tiles and other tables were read.
  public var rowCount = 0

  public init() {}

  public func count(_ level: ConformanceFinding.Level) -> Int {
    groups.filter { $0.level == level }.reduce(0) { $0 + $1.count }
  }

  /// Whether there is no finding of level error.
  public var isConformant: Bool { count(.error) == 0 }

  /// The kept findings, group by group.
  public var findings: [ConformanceFinding] { groups.flatMap(\.findings) }
}

extension CheckReport: CustomStringConvertible {
  /// `GeoPackage 1.4: 2 errors, 1 warning`, and how many repairs were made.
  public var description: String {
    let counts = [ConformanceFinding.Level.error, .warning].map {
      count($0).counting($0.rawValue)
    }
    return "GeoPackage\(version.map { " \($0)" } ?? ""): \(counts.joined(separator: ", "))"
      + (repairs.isEmpty ? "" : "; \(repairs.count.counting("repair"))")
  }
}

/// Groups findings as they come. Memory grows with the groups only.
struct FindingGroups {
  private struct Key: Hashable {
    var level: ConformanceFinding.Level
    var requirement: Requirement
    var table: String?
  }

  private let limit: Int
  private var indexes: [Key: Int] = [:]
  private var groups: [FindingGroup] = []

  init(limit: Int) { self.limit = limit }

  mutating func add(_ finding: ConformanceFinding) {
    let key = Key(
      level: finding.level, requirement: finding.requirement, table: finding.table)
    guard let index = indexes[key] else {
      indexes[key] = groups.count
      groups.append(
        FindingGroup(
          level: finding.level, requirement: finding.requirement, table: finding.table, count: 1,
          findings: limit > 0 ? [finding] : []))
      return
    }
    groups[index].count += 1
    if groups[index].findings.count < limit { groups[index].findings.append(finding) }
  }

  /// Errors first, then in the order of the standard, then tables in the order they came.
  var sorted: [FindingGroup] {
    groups.enumerated().sorted { left, right in
      let (a, b) = (left.element, right.element)
      if a.level != b.level { return a.level < b.level }
      if a.requirement != b.requirement { return a.requirement.rank < b.requirement.rank }
      return left.offset < right.offset
    }.map(\.element)
  }
}
