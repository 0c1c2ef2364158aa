import CGEOS
import Foundation
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// One operation of a case of GEOS's own XML test files, with what it should give.
struct TopologyCase: Sendable {
  let file: String
  /// 1-based in its file.
  let number: Int
  let a: String
  let b: String
  let operation: String
  /// The arguments by number, `A` and `B` in capitals.
  let arguments: [Int: String]
  let expected: String

  var title: String { "\(file) case \(number) \(operation)" }

  func text(_ argument: Int) -> String { arguments[argument] == "B" ? b : a }
}

/// Reads the XML test files: `run > case > (a, b, test > op)`.
final class TopologyCaseReader: NSObject, XMLParserDelegate {
  private let file: String
  private var cases: [TopologyCase] = []
  private var number = 0
  private var a = ""
  private var b = ""
  private var text = ""
  private var attributes: [String: String] = [:]

  static func read(_ url: URL) throws -> [TopologyCase] {
    let reader = TopologyCaseReader(file: url.lastPathComponent)
    let parser = XMLParser(data: try Data(contentsOf: url))
    parser.delegate = reader
    #expect(parser.parse(), "\(url.lastPathComponent) is no XML")
    return reader.cases
  }

  private init(file: String) {
    self.file = file
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    text = ""
    if name == "case" {
      number += 1
      a = ""
      b = ""
    }
    if name == "op" { self.attributes = attributes }
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    let content = text.trimmingCharacters(in: .whitespacesAndNewlines)
    switch name {
    case "a": a = content
    case "b": b = content
    case "op": append(content)
    default: break
    }
  }

  private func append(_ expected: String) {
    var arguments: [Int: String] = [:]
    for number in 1...3 {
      let value = attributes["arg\(number)"]?.trimmingCharacters(in: .whitespaces)
      arguments[number] = value.map { ["a", "b"].contains($0) ? $0.uppercased() : $0 }
    }
    cases.append(
      TopologyCase(
        file: file, number: number, a: a, b: b,
        operation: attributes["name"]?.lowercased() ?? "", arguments: arguments,
        expected: expected))
  }
}

/// GEOS itself, beside the code under test: reads WKT and hex, compares geometries.
final class GEOSOracle {
  private let handle: OpaquePointer

  init() throws {
    handle = try #require(GEOS_init_r())
  }

  deinit { GEOS_finish_r(handle) }

  /// The WKB of WKT or of hexadecimal WKB.
  func wkb(_ text: String) -> [UInt8]? {
    guard let geometry = geometry(text) else { return nil }
    defer { GEOSGeom_destroy_r(handle, geometry) }
    var size = 0
    GEOS_setWKBOutputDims_r(handle, 3)
    guard let bytes = GEOSGeomToWKB_buf_r(handle, geometry, &size) else { return nil }
    defer { GEOSFree_r(handle, bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: size))
  }

  private func geometry(_ text: String) -> OpaquePointer? {
    guard text.first?.isHexDigit == true, text.allSatisfy({ $0.isHexDigit || $0.isWhitespace })
    else { return GEOSGeomFromWKT_r(handle, text) }
    let digits = Array(text.filter { !$0.isWhitespace }.utf8)
    return GEOSGeomFromHEX_buf_r(handle, digits, digits.count)
  }

  /// Whether both are the same up to order and `tolerance`, or, `asSets`, the same points.
  func agree(_ wkb: [UInt8], _ text: String, tolerance: Double, asSets: Bool) -> Bool {
    guard let expected = geometry(text), let found = GEOSGeomFromWKB_buf_r(handle, wkb, wkb.count)
    else { return false }
    defer {
      GEOSGeom_destroy_r(handle, expected)
      GEOSGeom_destroy_r(handle, found)
    }
    if GEOSisEmpty_r(handle, expected) == 1 && GEOSisEmpty_r(handle, found) == 1 { return true }
    GEOSNormalize_r(handle, expected)
    GEOSNormalize_r(handle, found)
    if GEOSEqualsExact_r(handle, found, expected, tolerance) == 1 { return true }
    return asSets && GEOSEquals_r(handle, found, expected) == 1
  }

  /// How much of the area of `text` is not common to both, as a fraction.
  func areaApart(_ wkb: [UInt8], _ text: String) -> Double {
    guard let expected = geometry(text), let found = GEOSGeomFromWKB_buf_r(handle, wkb, wkb.count)
    else { return .infinity }
    defer {
      GEOSGeom_destroy_r(handle, expected)
      GEOSGeom_destroy_r(handle, found)
    }
    if GEOSisEmpty_r(handle, expected) == 1 { return GEOSisEmpty_r(handle, found) == 1 ? 0 : 1 }
    guard let apart = GEOSSymDifference_r(handle, found, expected) else { return .infinity }
    defer { GEOSGeom_destroy_r(handle, apart) }
    var difference = 0.0
    var whole = 0.0
    GEOSArea_r(handle, apart, &difference)
    GEOSArea_r(handle, expected, &whole)
    return whole > 0 ? difference / whole : difference
  }
}
