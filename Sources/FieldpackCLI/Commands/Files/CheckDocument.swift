import FieldpackCheck
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// A check's report as JSON, with all findings.
struct CheckDocument {
  private let report: CheckReport
  private let path: String

  init(_ report: CheckReport, path: String) {
    self.report = report
    self.path = path
  }

  /// Writes the document, in which the findings are the last member.
  func print(_ findings: FindingSpool, to output: ByteOutput) throws(FieldpackError) {
    head.append(to: &output.buffer)
    // The head's own end comes behind the findings.
    output.buffer.removeLast()
    output.buffer.append(contentsOf: ",\"findings\":[".utf8)
    try findings.visit { (bytes) throws(FieldpackError) in
      output.buffer.append(contentsOf: bytes)
      try output.flushIfFull()
    }
    output.buffer.append(contentsOf: "]}\n".utf8)
    try output.flushIfFull()
  }

  private var head: JSONValue {
    [
      "target": .text(path), "gpkg_version": JSONValue(report.version),
      "is_conformant": .boolean(report.isConformant),
      "error_count": JSONValue(report.count(.error)),
      "warning_count": JSONValue(report.count(.warning)),
      "note_count": JSONValue(report.count(.note)), "row_count": JSONValue(report.rowCount),
      "repairs": .array(
        report.repairs.map { ["table": JSONValue($0.table), "message": .text($0.detail)] }),
      "notes": JSONValue(report.notes),
    ]
  }
}

/// Findings as JSON, of which many wait in an unnamed file: what comes before them in the document
/// is known after them.
struct FindingSpool {
  private let file = SpillFile()
  private var bytes: [UInt8] = []
  private var isFirst = true

  private static let limit = 1 << 20

  mutating func append(_ finding: ConformanceFinding) throws(FieldpackError) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    JSONValue(finding).append(to: &bytes)
    guard bytes.count >= Self.limit else { return }
    var failure: FieldpackError?
    bytes.withUnsafeBytes { raw in
      do throws(FieldpackError) { try file.append(raw) } catch { failure = error }
    }
    if let failure { throw failure }
    bytes.removeAll(keepingCapacity: true)
  }

  func visit(_ body: ([UInt8]) throws(FieldpackError) -> Void) throws(FieldpackError) {
    var offset = 0
    while offset < file.end {
      let count = min(Self.limit, file.end - offset)
      var failure: FieldpackError?
      let piece = [UInt8](unsafeUninitializedCapacity: count) { room, initialized in
        do throws(FieldpackError) {
          try file.read(into: UnsafeMutableRawBufferPointer(room), at: offset)
          initialized = count
        } catch { failure = error }
      }
      if let failure { throw failure }
      try body(piece)
      offset += count
    }
    try body(bytes)
  }
}

extension JSONValue {
  init(_ finding: ConformanceFinding) {
    self = [
      "level": .text(finding.level.rawValue), "requirement": .text(finding.requirement.id),
      "table": JSONValue(finding.table), "column": JSONValue(finding.column),
      "row": finding.row.map { .integer($0) } ?? nil,
      "place": finding.place.map { .array([.real($0.x), .real($0.y)]) } ?? nil,
      "message": .text(finding.reason),
      "is_mendable": .boolean(finding.isMendable),
    ]
  }
}
