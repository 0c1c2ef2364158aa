import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackStoreKit
import FieldpackTestSupport
import FieldpackTopology
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Random conditions over random features: Fieldpack in SQL and in memory, brute force, GDAL and
/// SpatiaLite find the same, but for what ``Semantics`` lists.
@Suite(.programs) struct PeerDifferentialTests {
  private static let seed: UInt64 = 20_261_120

  /// 400 conditions over 400 features, or as many of both as the variable says: 10,000 take
  /// ten minutes in a release build.
  private static let size: Int? = ProcessInfo.processInfo.environment["FIELDPACK_DIFFERENTIAL"]
    .flatMap { Int($0) }
  private static let conditionCount = size ?? 400
  private static let featureCount = size ?? 400

  /// What the programs mean otherwise.
  private static let gdal: Set<Semantics> = [
    .likeIgnoresCase, .instantsAreText, .emptyIsDisjoint, .equalIsVertexByVertex,
  ]
  private static let spatiaLite: Set<Semantics> = [
    .likeIgnoresCase, .instantsAreText, .missingIsFalse, .emptyHasBox,
  ]

  /// How many of the 400 conditions have another answer, and for which of these reasons.
  private static let differences = [
    "GDAL in all": 39, "GDAL emptyIsDisjoint": 21, "GDAL instantsAreText": 6,
    "GDAL likeIgnoresCase": 13,
    "SpatiaLite in all": 77, "SpatiaLite emptyHasBox": 38, "SpatiaLite instantsAreText": 6,
    "SpatiaLite likeIgnoresCase": 13, "SpatiaLite missingIsFalse": 21,
  ]

  /// How often the DE-9IM matrix of an invalid geometry says something else than all programs.
  private static let invalidCount = 0

  @Test func `Fieldpack in SQL and in memory finds what brute force finds`() async throws {
    let trial = try await DifferentialTrial(
      seed: Self.seed, features: Self.featureCount, conditions: Self.conditionCount)
    try await trial.package.withStore { store in
      var matches = 0
      for condition in trial.conditions {
        let expected = try trial.brute.answers(condition)
        let filter = condition.filter(trial.literals)
        // As it is read back from its text, where it has one.
        let read = try (try? filter.cql2Text).map { try Filter(cql2: $0) } ?? filter
        let yes = trial.ids(expected, true)
        let found = try await store.ids(Query("places", where: read)).map(Int.init)
        let negated = try await store.ids(Query("places", where: .not(read))).map(Int.init)
        let text = condition.spatiaLiteSQL
        if found != yes { Issue.record("in SQL: \(text)") }
        if negated != trial.ids(expected, false) { Issue.record("in SQL: NOT \(text)") }
        if try trial.evaluated(filter) != expected { Issue.record("in memory: \(text)") }
        matches += yes.count
      }
      #expect(matches > trial.conditions.count * trial.features.count / 10)
      if Self.size == nil {
        #expect(trial.brute.invalidCount == Self.invalidCount)
      } else {
        print("\(matches) matches, \(trial.brute.invalidCount) of invalid geometries")
      }
    }
  }

  @Test func `SpatiaLite finds the same but for what is known`() async throws {
    let trial = try await DifferentialTrial(
      seed: Self.seed, features: Self.featureCount, conditions: Self.conditionCount)
    let peer = try SpatiaLitePeer(trial.package.path, trial.literals)
    var found: [[Int]] = []
    for condition in trial.conditions { found.append(try peer.ids(condition)) }
    try compare(found, Self.spatiaLite, trial, "SpatiaLite")
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `GDAL finds the same but for what is known`() async throws {
    let trial = try await DifferentialTrial(
      seed: Self.seed, features: Self.featureCount, conditions: Self.conditionCount)
    let found = try await GDALPeer.ids(trial.conditions, trial.literals, trial.package)
    try compare(found, Self.gdal, trial, "GDAL")
  }

  /// Every answer is brute force's with the peer's semantics; counts what each of them changes.
  private func compare(
    _ found: [[Int]], _ semantics: Set<Semantics>, _ trial: DifferentialTrial, _ peer: String
  ) throws {
    #expect(found.count == trial.conditions.count)
    var counts: [String: Int] = [:]
    for (condition, ids) in zip(trial.conditions, found) {
      let own = trial.ids(try trial.brute.answers(condition), true)
      let theirs = trial.ids(try trial.brute.answers(condition, semantics), true)
      if ids != theirs {
        let odd = Set(ids).symmetricDifference(theirs).sorted().prefix(9)
        Issue.record("\(peer) about \(odd): \(condition.spatiaLiteSQL)")
      }
      if ids == own { continue }
      counts["\(peer) in all", default: 0] += 1
      for reason in semantics
      where trial.ids(try trial.brute.answers(condition, semantics.subtracting([reason])), true)
        != theirs
      {
        counts["\(peer) \(reason.rawValue)", default: 0] += 1
      }
    }
    guard Self.size == nil else {
      print(counts.sorted { $0.key < $1.key })
      return
    }
    #expect(counts == Self.differences.filter { $0.key.hasPrefix(peer) })
  }
}

/// A GeoPackage with features at random, and conditions on them.
struct DifferentialTrial {
  let package: TestPackage
  let features: [RandomFeature]
  let literals: [Geometry]
  let conditions: [Condition]
  let brute: BruteForce
  private let rows: [ValueRow]

  private static let schema = Schema(
    layer: "places", geometry: GeometryColumn(),
    columns: [
      ColumnDefinition("i", .integer), ColumnDefinition("r", .double),
      ColumnDefinition("t", .text()), ColumnDefinition("b", .boolean),
      ColumnDefinition("d", .date), ColumnDefinition("m", .dateTime),
    ])

  init(seed: UInt64, features count: Int, conditions conditionCount: Int) async throws {
    var random = RandomSurvey(seed: seed)
    let (features, literals) = try Self.related(
      (0..<count).map { _ in random.feature() },
      (0..<max(40, conditionCount / 50)).map { _ in random.literal() })
    conditions = (0..<conditionCount).map { _ in random.condition(literals: literals.count) }
    (self.features, self.literals) = (features, literals)
    brute = try BruteForce(features, literals)
    rows = features.enumerated().map { index, feature in
      ValueRow(
        id: .integer(Int64(index + 1)), feature.values,
        wkb: feature.geometry.map { WKB.bytes(of: $0) })
    }
    package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Self.schema)
        for feature in features {
          var attributes: Attributes = [:]
          for (column, value) in zip(Self.schema.columns, feature.values) {
            attributes[column.name] = value
          }
          if feature.writesNaN { attributes["r"] = .real(.nan) }
          try writer.create(
            Feature(geometry: feature.geometry, attributes: attributes), in: "places")
        }
      }
    }
    // As other programs write them.
    try package.withConnection { connection in
      for (index, feature) in features.enumerated() where feature.m?.hasSuffix(".000Z") == false {
        try connection.execute(
          "UPDATE places SET m = ? WHERE fid = ?", .text(feature.m ?? ""),
          .integer(Int64(index + 1)))
      }
    }
  }

  /// Takes out the invalid geometries that GEOS cannot relate to one of the others: there Fieldpack
  /// ends with an error, GDAL says no, and SpatiaLite -1.
  private static func related(
    _ features: [RandomFeature], _ literals: [Geometry]
  ) throws -> ([RandomFeature], [Geometry]) {
    var (features, literals) = (features, literals)
    let context = try TopologyContext()
    let shapes = try features.map { try $0.geometry.map { try context.read($0) } }
    func fails(_ a: TopologyGeometry?, _ b: TopologyGeometry) -> Bool {
      guard let a else { return false }
      return (try? a.relate(to: b)) == nil || (try? b.relate(to: a)) == nil
    }
    for (index, literal) in literals.enumerated() {
      let shape = try context.read(literal)
      if try !shape.isValid(), shapes.contains(where: { fails($0, shape) }) {
        literals[index] = .point(x: 0, y: 0)
      }
    }
    let others = try literals.map { try context.read($0) }
    for (index, shape) in shapes.enumerated() {
      guard let shape, try !shape.isValid(), others.contains(where: { fails(shape, $0) }) else {
        continue
      }
      features[index].geometry = nil
    }
    return (features, literals)
  }

  func ids(_ answers: [Bool?], _ wanted: Bool) -> [Int] {
    answers.indices.filter { answers[$0] == wanted }.map { $0 + 1 }
  }

  /// What the evaluator in memory answers, feature by feature.
  func evaluated(_ filter: Filter) throws -> [Bool?] {
    let evaluator = try FilterEvaluator(filter, schema: Self.schema)
    return try rows.map { try evaluator.evaluate($0) }
  }
}

extension RandomFeature {
  fileprivate var values: [Value] {
    [
      i.map(Value.integer) ?? .null, r.map(Value.real) ?? .null, t.map(Value.text) ?? .null,
      b.map(Value.boolean) ?? .null, d.map(Value.date) ?? .null,
      m.map(Value.text) ?? .null,
    ]
  }
}
