import FieldpackGeometry
import FieldpackTestSupport
import FieldpackTopology
import Foundation
import Testing

/// Every case of GEOS's own XML tests that our calls cover, counted.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct TopologyCaseTests {
  /// Operations of the files that have no call here.
  private static let uncovered: Set<String> = [
    "areatest", "buffersinglesided", "densify", "equalsexact", "equalsnorm", "split",
  ]

  /// Cases whose answer GEOS 3.11.1 itself does not give, with the reason.
  private static let explained = [
    "TestSimplify.xml case 6 simplifytp": "lines constrain one another since GEOS 3.12",
    "TestSimplify.xml case 12 simplifydp": "the ring's end is removed since GEOS 3.12",
    "TestSimplify.xml case 15 simplifytp": "holes constrain the shell since GEOS 3.12",
    "TestSimplify.xml case 17 simplifytp": "the ring's end is removed since GEOS 3.12",
    "InvalidRelates.xml case 3 relate": "invalid input; RelateNG since GEOS 3.13",
    "makevalid.xml case 14 makevalid": "the file's precision model has one decimal",
  ]

  private static func cases() throws -> [TopologyCase] {
    try ["general", "issue", "misc", "validate"].flatMap { folder in
      try SharedData.files(in: "real/geos-xml/\(folder)", extensions: ["xml"])
        .flatMap(TopologyCaseReader.read)
    }
  }

  @Test func `every covered case gives what it should`() throws {
    var counts: [String: Int] = [:]
    var differences: [String] = []
    let runner = try TopologyCaseRunner()
    for one in try Self.cases() where !Self.uncovered.contains(one.operation) {
      // Curves in WKT, which GEOS 3.11.1 cannot read, have a test of their own below.
      if one.file == "TestOverlayCurvesAA.xml" { continue }
      counts[one.operation, default: 0] += 1
      if let difference = try runner.difference(in: one), Self.explained[one.title] == nil {
        differences.append("\(one.title): \(difference)")
      }
    }
    #expect(differences == [])
    #expect(
      counts == [
        "buffer": 49, "buffermitredjoin": 5, "contains": 160, "convexhull": 1, "coveredby": 130,
        "covers": 154, "crosses": 120, "difference": 23, "differenceng": 103, "disjoint": 120,
        "equalstopo": 120, "getboundary": 12, "intersection": 27, "intersectionng": 58,
        "intersects": 171, "isvalid": 18, "iswithindistance": 22, "makevalid": 15,
        "overlaps": 120, "relate": 145, "simplifydp": 18, "simplifytp": 18, "symdifference": 26,
        "symdifferenceng": 58, "touches": 120, "union": 30, "unionng": 58, "within": 121,
      ])
  }

  @Test func `overlays of curves have the area they should`() throws {
    let url = SharedData.url("real/geos-xml/general/TestOverlayCurvesAA.xml")
    let context = try TopologyContext()
    var checked = 0
    for one in try TopologyCaseReader.read(url) {
      let a = try context.read(WKT.read(one.a))
      let b = try context.read(WKT.read(one.b))
      let expected = try context.read(WKT.read(one.expected)).area()
      let found: TopologyGeometry =
        switch one.operation {
        case "union": try a.union(b)
        case "intersection": try a.intersection(b)
        case "difference": try a.difference(b)
        default: try a.symmetricDifference(b)
        }
      checked += 1
      let scale = max(try a.area(), try b.area())
      #expect(abs(try found.area() - expected) < 1e-3 * scale, "\(one.title)")
    }
    #expect(checked == 47)
  }
}

/// Runs a case through the code under test.
private final class TopologyCaseRunner {
  private let oracle: GEOSOracle
  private let context: TopologyContext

  init() throws {
    oracle = try GEOSOracle()
    context = try TopologyContext()
  }

  /// What is wrong; `nil` when nothing is.
  func difference(in one: TopologyCase) throws -> String? {
    let other = one.b.isEmpty ? one.a : one.text(2)
    guard let first = oracle.wkb(one.text(1)), let second = oracle.wkb(other) else {
      return "the case's geometry is unreadable"
    }
    do throws(TopologyError) {
      let a = try context.read(wkb: first)
      let b = try context.read(wkb: second)
      switch one.operation {
      case "relate", "isvalid", "iswithindistance": return try truth(one, a, b)
      case "equalstopo": return try predicate(.equals, one, a, second)
      case "buffer", "buffermitredjoin": return try buffer(one, a)
      default: break
      }
      if let relation = SpatialRelation.allCases.first(where: {
        $0.rawValue.lowercased() == one.operation
      }) {
        return try predicate(relation, one, a, second)
      }
      return try overlay(one, a, b)
    } catch {
      return error.message
    }
  }

  private func truth(
    _ one: TopologyCase, _ a: TopologyGeometry, _ b: TopologyGeometry
  ) throws(TopologyError) -> String? {
    let found: Bool
    switch one.operation {
    case "relate":
      let pattern = one.arguments[3] ?? ""
      found = try a.relates(to: b, pattern: pattern)
      if one.expected == "true", !pattern.contains(where: "T*".contains) {
        let matrix = try a.relate(to: b)
        if matrix != pattern { return "matrix \(matrix) for \(pattern)" }
      }
    case "isvalid":
      found = try a.isValid()
      if try (a.validity() == .valid) != found { return "validity contradicts isValid" }
    default:
      found = try a.isWithin(Double(one.arguments[3] ?? "") ?? .nan, of: b) ?? false
    }
    return String(found) == one.expected ? nil : "\(found)"
  }

  private func predicate(
    _ relation: SpatialRelation, _ one: TopologyCase, _ a: TopologyGeometry, _ b: [UInt8]
  ) throws(TopologyError) -> String? {
    let other = try context.read(wkb: b)
    let plain = try a.hasExactly(relation, to: other)
    if String(plain) != one.expected { return "\(plain)" }
    // The prepared geometry is the relation's second operand: the first is the feature.
    let feature = try a.wkb()
    let prepared = try PreparedGeometry(other).test(relation, of: feature.span.bytes)
    let converse = try PreparedGeometry(a).test(relation.mirrored, of: b.span.bytes)
    let expected: Bool? = a.isEmpty || other.isEmpty ? nil : plain
    if prepared != expected { return "prepared \(String(describing: prepared))" }
    if converse != expected { return "prepared converse \(String(describing: converse))" }
    if let box = a.envelope,
      let decided = try PreparedGeometry(other).decision(on: relation, of: box), decided != plain
    {
      return "decided by envelope: \(decided)"
    }
    return nil
  }

  private func buffer(
    _ one: TopologyCase, _ a: TopologyGeometry
  ) throws(TopologyError) -> String? {
    let distance = Double(one.arguments[2] ?? one.arguments[3] ?? "") ?? .nan
    let style = BufferStyle(join: one.operation == "buffer" ? .round : .mitre)
    let apart = oracle.areaApart(try a.buffered(by: distance, style: style).wkb(), one.expected)
    return apart < 1e-3 ? nil : "area apart \(apart)"
  }

  private func overlay(
    _ one: TopologyCase, _ a: TopologyGeometry, _ b: TopologyGeometry
  ) throws(TopologyError) -> String? {
    let result: TopologyGeometry =
      switch one.operation {
      case "union" where one.arguments[2] == nil: try a.unionOfMembers()
      case "union", "unionng": try a.union(b)
      case "intersection", "intersectionng": try a.intersection(b)
      case "difference", "differenceng": try a.difference(b)
      case "symdifference", "symdifferenceng": try a.symmetricDifference(b)
      case "convexhull": try a.convexHull()
      case "getboundary": try a.boundary()
      case "makevalid": try a.madeValid()
      case "simplifydp":
        try a.simplified(
          tolerance: Double(one.arguments[2] ?? "") ?? .nan, preservingTopology: false)
      case "simplifytp": try a.simplified(tolerance: Double(one.arguments[2] ?? "") ?? .nan)
      default: throw TopologyError(.invalidArgument, "no call for \(one.operation)")
      }
    let wkb = try result.wkb()
    return oracle.agree(wkb, one.expected, tolerance: 1e-6, asSets: true) ? nil : "other geometry"
  }
}
