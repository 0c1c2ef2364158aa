import Fieldpack
import Foundation

/// In-process figures: `FieldpackBench WORK ARGUMENTS…` prints one JSON line with seconds and a
/// checksum, so that a caller can compare both with a peer's.
@main
struct Bench {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let work = arguments.first else {
      print("usage: FieldpackBench import|export|scan|lent|boxes|ids ARGUMENTS")
      exit(64)
    }
    let rest = Array(arguments.dropFirst())
    let start = ContinuousClock.now
    let checksum: String
    switch work {
    case "import": checksum = try await importFile(rest)
    case "export": checksum = try await export(rest)
    case "scan": checksum = try await scanBatches(rest)
    case "lent": checksum = try await scanLent(rest)
    case "boxes": checksum = try await boxes(rest, ids: false)
    case "ids": checksum = try await boxes(rest, ids: true)
    default:
      print("unknown work '\(work)'")
      exit(64)
    }
    let seconds = start.duration(to: .now) / .seconds(1)
    print(#"{"work":"\#(work)","seconds":\#(seconds),"checksum":"\#(checksum)"}"#)
  }

  static func importFile(_ arguments: [String]) async throws -> String {
    try? FileManager.default.removeItem(atPath: arguments[1])
    let report = try await FileImport().run([arguments[0]], into: arguments[1])
    return "\(report.count)"
  }

  static func export(_ arguments: [String]) async throws -> String {
    let workspace = try await Workspace.open(file: URL(fileURLWithPath: arguments[0]))
    var options = ExportOptions()
    options.overwrite = true
    let target = URL(fileURLWithPath: arguments[1])
    let format = Format.byExtension(arguments[1]) ?? .geoJSON
    let report = try await workspace.exportFeatures(
      Query(), to: target, as: format, options: options)
    return "\(report.count)"
  }

  static func scanBatches(_ arguments: [String]) async throws -> String {
    let store = try await GeoPackageStore(path: arguments[0], id: "bench")
    var rows = 0
    var bytes = 0
    for try await batch in try await store.query(Query()) {
      rows += batch.count
      bytes += batch.byteCount
    }
    return "\(rows) \(bytes)"
  }

  static func scanLent(_ arguments: [String]) async throws -> String {
    let store = try await GeoPackageStore(path: arguments[0], id: "bench")
    let sink = try await store.scan(Query(), into: CountingSink())
    return "\(sink.rows) \(sink.bytes) \(sink.sum)"
  }

  static func boxes(_ arguments: [String], ids: Bool) async throws -> String {
    let store = try await GeoPackageStore(path: arguments[0], id: "bench")
    let text = try String(contentsOfFile: arguments[1], encoding: .utf8)
    let boxes = text.split(separator: "\n").map { line in
      line.split(separator: ",").compactMap { Double($0) }
    }.filter { $0.count == 4 }
    var times: [Double] = []
    var rows = 0
    for box in boxes {
      let envelope = Envelope(minX: box[0], minY: box[1], maxX: box[2], maxY: box[3])
      var query = Query(where: .intersects(envelope))
      if ids { query = query.withoutGeometry().select([]) }
      let start = ContinuousClock.now
      let sink = try await store.scan(query, into: CountingSink())
      times.append(start.duration(to: .now) / .microseconds(1))
      rows += sink.rows
    }
    times.sort()
    return "\(rows) p50=\(times[times.count / 2]) p99=\(times[times.count * 99 / 100])"
  }
}

/// Touches every value of every row.
struct CountingSink: FeatureSink, Sendable {
  var rows = 0
  var bytes = 0
  var sum = 0.0
  private var columns = 0

  mutating func begin(_ schema: Schema) { columns = schema.columns.count }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
    rows += 1
    row.withGeometry { bytes += $0.byteCount }
    for column in 0..<columns {
      switch row.kind(at: column) {
      case .integer: sum += Double(row.integer(at: column))
      case .real: sum += row.real(at: column)
      case .text, .blob: row.withBytes(at: column) { bytes += $0.byteCount }
      case .null: break
      }
    }
  }
}
