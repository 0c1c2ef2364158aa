public import FieldpackCore
public import FieldpackGeoPackage

/// One thing that a check found: what is asked, where it is not so, and why.
public struct ConformanceFinding: Hashable, Sendable {
  public enum Level: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Against a requirement, or an answer will be wrong.
    case error
    /// Allowed or harmless to most, but some programs stumble over it.
    case warning
    /// Worth knowing.
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
  /// The table or view, as the file names it; `nil` for the file as a whole.
  public var table: String?
  public var column: String?
  /// The id of the row; of a feature, its feature id.
  public var row: Int64?
  /// What is so and should not be.
  public var reason: String
  /// Whether `--repair` mends it.
  public var isMendable: Bool

  public init(
    _ level: Level, _ requirement: Requirement, table: String? = nil, column: String? = nil,
    row: Int64? = nil, _ reason: String, isMendable: Bool = false
  ) {
    self.level = level
    self.requirement = requirement
    self.table = table
    self.column = column
    self.row = row
    self.reason = reason
    self.isMendable = isMendable
  }
}

/// Findings of one level against one requirement in one table.
public struct FindingGroup: Hashable, Sendable {
  public var level: ConformanceFinding.Level
  public var requirement: Requirement
  public var table: String?
  /// How many there are.
  public var count: Int
  /// The first of them.
  public var findings: [ConformanceFinding]
}

/// Something that a repair or an upgrade did.
public struct ConformanceRepair: Hashable, Sendable {
  public var table: String?
  /// What was done.
  public var detail: String
}

/// What a check is to do.
public struct CheckOptions: Sendable {
  /// Mends what can be mended.
  public var repairs = false
  /// Makes the file one of this version, where it is of an older one.
  public var upgrade: GeoPackageVersion?
  /// How many findings of a group the report keeps; ``receive`` gets all.
  public var findingLimit = 10
  /// Called with each finding, after a repair with those that are left; throws to stop.
  public var receive: (@Sendable (ConformanceFinding) throws(FieldpackError) -> Void)?
  /// Told what is done and how long it takes; never a value.
  public var logger = Logger.silent
  /// Called now and then with the rows read so far; throws to stop.
  public var progress: (@Sendable (Int) throws(FieldpackError) -> Void)?
  /// How long a view may run.
  var patience = Duration.seconds(10)

  public init() {}
}

/// What is wrong with a GeoPackage.
public struct CheckReport: Hashable, Sendable {
  /// `1.0` to `1.4` or later, as the file says; `nil` where it does not.
  public var version: String?
  /// Errors first, then by requirement in the standard's order, then by table.
  public var groups: [FindingGroup] = []
  /// What a repair or an upgrade did, in order.
  public var repairs: [ConformanceRepair] = []
  /// What could not be mended as a whole, and why.
  public var notes: [String] = []
  /// Rows of layers, tiles and other tables that were read.
  public var rowCount = 0

  public init() {}

  public func count(_ level: ConformanceFinding.Level) -> Int {
    groups.filter { $0.level == level }.reduce(0) { $0 + $1.count }
  }

  /// Whether nothing of level error was found.
  public var isConformant: Bool { count(.error) == 0 }

  /// The findings that were kept, group by group.
  public var findings: [ConformanceFinding] { groups.flatMap(\.findings) }
}

/// Sorts findings into groups as they come, in memory that grows with the groups only.
struct FindingGroups {
  private struct Key: Hashable {
    var level: ConformanceFinding.Level
    var requirement: Requirement
    var table: String?
  }

  private let limit: Int
  private var places: [Key: Int] = [:]
  private var groups: [FindingGroup] = []

  init(limit: Int) { self.limit = limit }

  mutating func add(_ finding: ConformanceFinding) {
    let key = Key(
      level: finding.level, requirement: finding.requirement, table: finding.table)
    guard let place = places[key] else {
      places[key] = groups.count
      groups.append(
        FindingGroup(
          level: finding.level, requirement: finding.requirement, table: finding.table, count: 1,
          findings: limit > 0 ? [finding] : []))
      return
    }
    groups[place].count += 1
    if groups[place].findings.count < limit { groups[place].findings.append(finding) }
  }

  /// Errors first, then in the order of the standard; tables as they came.
  var sorted: [FindingGroup] {
    groups.enumerated().sorted { left, right in
      let (a, b) = (left.element, right.element)
      if a.level != b.level { return a.level < b.level }
      if a.requirement != b.requirement { return a.requirement.rank < b.requirement.rank }
      return left.offset < right.offset
    }.map(\.element)
  }
}
