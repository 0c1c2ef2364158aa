import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackProjection

/// One thing that a `.gie` file asks of a PROJ string.
private struct GieCase {
  let file: String
  let line: Int
  let operation: String
  let isInverse: Bool
  /// Metres.
  let tolerance: Double
  let accept: [Double]
  /// `nil` where a failure is expected.
  let expect: [Double]?
}

/// Reads the operations in PROJ strings; those between two codes have tests of their own.
private struct GieStringReader {
  private(set) var cases: [GieCase] = []
  /// What is asked in numbers that this cannot read: angles in minutes, times.
  private(set) var unread = 0
  private let file: String
  private var operation: String?
  private var isInverse = false
  private var tolerance = 0.0005
  private var accept: [Double]?

  static func read(_ url: URL) throws -> GieStringReader {
    var reader = GieStringReader(file: url.lastPathComponent)
    var pending = ""
    for (index, line) in try String(contentsOf: url, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let plain = line.split(separator: "#", omittingEmptySubsequences: false).first ?? ""
      // An operation goes on in lines that begin with '+' or blanks.
      let isMore = plain.first == "+" || plain.first == " " || plain.first == "\t"
      if isMore, !pending.isEmpty {
        pending += " " + plain
        continue
      }
      if !pending.isEmpty { reader.open(pending) }
      pending = plain.hasPrefix("operation") ? String(plain.dropFirst(9)) : ""
      if pending.isEmpty { reader.take(plain.split(whereSeparator: \.isWhitespace), index + 1) }
    }
    return reader
  }

  private init(file: String) { self.file = file }

  private mutating func open(_ text: String) {
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    operation = words.contains("init=") ? nil : words
    (isInverse, tolerance, accept) = (false, 0.0005, nil)
  }

  private mutating func take(_ words: [Substring], _ line: Int) {
    switch words.first {
    case "direction": isInverse = words.last == "inverse"
    case "tolerance":
      // The unit may follow without a blank: `1e-15m`.
      let text = words.dropFirst().joined()
      let unit = String(text.reversed().prefix { $0.isLetter }.reversed())
      let units = ["mm": 1e-3, "cm": 1e-2, "nm": 1e-9, "um": 1e-6, "m": 1, "km": 1e3, "": 1]
      tolerance = (Double(text.dropLast(unit.count)) ?? .nan) * (units[unit] ?? .nan)
    case "accept": accept = Self.numbers(words)
    case "expect": expect(words, line)
    case "crs_src", "crs_dst": operation = nil
    default: break
    }
  }

  private static func numbers(_ words: [Substring]) -> [Double]? {
    let numbers = words.dropFirst().map { Double($0) }
    guard numbers.count >= 2, numbers.count <= 3, !numbers.contains(nil) else { return nil }
    return numbers.compactMap(\.self)
  }

  private mutating func expect(_ words: [Substring], _ line: Int) {
    guard let operation else { return }
    let fails = words.dropFirst().first == "failure"
    let expected = fails ? nil : Self.numbers(words)
    guard fails || expected != nil && accept != nil else {
      unread += 1
      return
    }
    cases.append(
      GieCase(
        file: file, line: line, operation: operation, isInverse: isInverse, tolerance: tolerance,
        accept: accept ?? [0, 0], expect: expected))
  }
}

@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct GieStringTests {
  /// Projections that PROJ 9.1 has not got: its `cct` refuses them, too.
  private static let unknown = ["airocean", "som", "tsea", "dsea", "ivea", "mod_krovak"]

  /// Operations that PROJ has mended or changed since 9.1; its own `gie` finds most of them amiss.
  private static let changed: Set<String> = [
    "+proj=cass +lat_0=50.6177 +lon_0=-1.19725 +x_0=500000 +y_0=100000 +ellps=airy +units=m",
    "+proj=cea +ellps=GRS80", "+proj=eck4 +a=6400000", "+proj=eqc +ellps=WGS84 +lat_ts=0",
    "+proj=eqc +ellps=WGS84 +lat_ts=45", "+proj=eqc +ellps=WGS84 +lat_ts=30 +lat_0=45",
    "+proj=gnom +a=1 +rf=200", "+proj=gnom +a=1 +rf=200 +lat_0=90",
    "+proj=gnom +a=1 +rf=200 +lat_0=-90", "+proj=gnom +a=1 +rf=200 +lat_0=45",
    "+proj=isea +R=6371007.18091875", "+proj=isea +R=6371007.18091875 +lat_0=49 +lon_0=2",
    "+proj=laea +ellps=GRS80", "+proj=lcc +lat_1=2D32 +lat_2=0 +a=6378137 +b=0.2",
    "+proj=merc +R_C +ellps=WGS84 +lat_0=45",
    "+proj=ortho +lat_0=37.628969166666664 +lon_0=-122.39394166666668 +k_0=0.9999968 "
      + "+alpha=27.7927777777777 +x_0=0 +y_0=0 +ellps=GRS80",
    "+proj=ortho +lat_0=37.628969166666664 +lon_0=-122.39394166666668 +k_0=0.9999968 "
      + "+alpha=27.7927777777777 +x_0=10 +y_0=20 +ellps=GRS80",
    "+proj=tmerc +R=1737400", "+proj=wag6 +a=6400000",
  ]

  @Test func `PROJ strings give what PROJ's own tests say`() throws {
    var (checked, failures, unread, explained) = (0, 0, 0, 0)
    var differences: [String] = []
    for url in SharedData.files(in: "real/proj", extensions: ["gie"]) {
      let reader = try GieStringReader.read(url)
      unread += reader.unread
      for one in reader.cases {
        if one.expect == nil { failures += 1 } else { checked += 1 }
        guard let difference = Self.difference(one) else { continue }
        if Self.isExplained(one.operation) {
          explained += 1
        } else {
          differences.append("\(one.file):\(one.line) \(difference)")
        }
      }
    }
    #expect(differences == [])
    #expect("\(checked) \(failures) \(unread) \(explained)" == "2092 140 22 225")
  }

  private static func isExplained(_ operation: String) -> Bool {
    changed.contains(operation) || unknown.contains { operation.hasPrefix("+proj=\($0) ") }
  }

  private static func difference(_ one: GieCase) -> String? {
    let found = try? PROJPipeline(one.operation, isInverse: one.isInverse)
    let moved = found?.transform(one.accept)
    guard let expected = one.expect else { return moved == nil ? nil : "does not fail" }
    guard let found, let moved else { return "fails" }
    let apart = distance(moved, expected, found.givesAngles)
    return apart <= one.tolerance ? nil : "\(apart) m, more than \(one.tolerance)"
  }

  private static func distance(_ a: [Double], _ b: [Double], _ areAngles: Bool) -> Double {
    let height = b.count > 2 ? a[2] - b[2] : 0
    let flat =
      areAngles
      ? Geodesic.wgs84.distance(
        from: Position(x: a[0], y: a[1]), to: Position(x: b[0], y: b[1]))
      : ((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])).squareRoot()
    return (flat * flat + height * height).squareRoot()
  }
}
