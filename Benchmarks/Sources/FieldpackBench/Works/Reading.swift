import Fieldpack
import FieldpackPostGIS
import Foundation

/// Works that read one layer of a GeoPackage, or boxes of a layer of a config's store. Opening the
/// file counts except for boxes, whose peers keep it open; there the file is opened as our own, which
/// maps it into memory.
struct Reading {
  enum Work: String { case scan, lent, boxes, ids, counts, relation, sql, `where` }

  let path: String
  let layer: LayerID

  func run(_ work: Work, _ arguments: ArraySlice<String>) async throws -> Figures {
    let argument = arguments.first ?? ""
    switch work {
    case .scan: return try await scanBatches(Query(layers: [layer]))
    case .lent: return try await scanLent(Query(layers: [layer]))
    case .relation:
      let text = try String(contentsOfFile: argument, encoding: .utf8)
      let geometry = try WKT.read(text.trimmingCharacters(in: .whitespacesAndNewlines))
      return try await scanBatches(Query(layers: [layer], where: .intersects(geometry)))
    case .sql: return try await rowsOfSQL(geometryFile: argument)
    case .where:
      return try await scanLent(Query(layers: [layer], where: try Filter(cql2: argument)))
    case .boxes, .ids, .counts: return try await boxes(work, argument)
    }
  }

  private func scanBatches(_ query: Query) async throws -> Figures {
    let path = path
    let ((count, bytes), seconds) = try await Figures.timing {
      let store = try await GeoPackageStore(path: path, id: "bench")
      var (count, bytes) = (0, 0)
      for try await batch in try await store.query(query) {
        count += batch.count
        for index in 0..<batch.count { batch[index].withGeometry { bytes += $0.byteCount } }
      }
      return (count, bytes)
    }
    return Figures(seconds: seconds, count: count, checksum: [bytes])
  }

  /// A user's statement, which finds its features by the R-tree on its own.
  private func rowsOfSQL(geometryFile: String) async throws -> Figures {
    let text = try String(contentsOfFile: geometryFile, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let (path, name) = (path, layer.rawValue.replacingOccurrences(of: "\"", with: "\"\""))
    let ((count, bytes), seconds) = try await Figures.timing {
      let store = try await GeoPackageStore(path: path, id: "bench")
      let sql = "SELECT * FROM \"\(name)\" WHERE ST_Intersects(geom, ?)"
      let area = Value.geometry(try WKT.read(text), srsID: 4326)
      var (count, bytes) = (0, 0)
      for try await batch in store.rows(sql: sql, parameters: [area]) {
        count += batch.rows.count
        for case .blob(let blob) in batch.rows.map({ $0[1] }) {
          bytes += blob.count - (try GeoPackageBinary(blob.span.bytes)).bodyOffset
        }
      }
      return (count, bytes)
    }
    return Figures(seconds: seconds, count: count, checksum: [bytes])
  }

  private func scanLent(_ query: Query) async throws -> Figures {
    let path = path
    let (sink, seconds) = try await Figures.timing {
      let store = try await GeoPackageStore(path: path, id: "bench")
      return try await store.scan(query, into: TouchingSink())
    }
    return Figures(seconds: seconds, count: sink.count, checksum: [sink.geometryBytes])
  }

  private func boxes(_ work: Work, _ file: String) async throws -> Figures {
    let boxes = try Self.boxes(file)
    let layer = layer
    let store = try await opened()
    return try await store.read { (snapshot) throws(FieldpackError) in
      var sink = TouchingSink()
      var latencies: [Double] = []
      let start = ContinuousClock.now
      for box in boxes {
        var query = Query(layers: [layer], where: .intersects(box))
        if work == .ids { query = query.withoutGeometry().select([]) }
        let begin = ContinuousClock.now
        if work == .counts {
          sink.count += try snapshot.count(query)
        } else {
          try snapshot.scan(query, into: &sink)
        }
        latencies.append(begin.duration(to: .now) / .microseconds(1))
      }
      return Figures(
        seconds: start.duration(to: .now) / .seconds(1), count: sink.count,
        checksum: [sink.ids], latencies: latencies)
    }
  }

  private func opened() async throws -> any Store {
    guard path.hasSuffix(".scfg") else {
      return try await GeoPackageStore(path: path, id: "bench", profile: .own)
    }
    var registry = StoreRegistry.standard
    registry.register(PostGISStoreType.self)
    var options = SourceOptions()
    options.registry = registry
    let workspace = try await Workspace.open(source: path, options: options)
    guard let member = workspace.members.first else { throw CocoaError(.fileReadUnknown) }
    return try workspace.store(member.id)
  }

  private static func boxes(_ file: String) throws -> [Envelope] {
    // As cheap as in C: the time for it counts where processor time is compared.
    let numbers = try String(contentsOfFile: file, encoding: .utf8).withCString { text in
      var (numbers, place) = ([Double](), text)
      while true {
        var end: UnsafeMutablePointer<CChar>?
        let number = strtod(place, &end)
        guard let end, end != place else { return numbers }
        numbers.append(number)
        place = UnsafePointer(end)
      }
    }
    return stride(from: 0, to: numbers.count - 3, by: 4).map {
      Envelope(
        minX: numbers[$0], minY: numbers[$0 + 1], maxX: numbers[$0 + 2], maxY: numbers[$0 + 3])
    }
  }
}

/// Touches every value of every row.
struct TouchingSink: FeatureSink, Sendable {
  var count = 0
  var ids = 0
  var geometryBytes = 0
  private var bytes = 0
  private var sum = 0.0
  private var columns = 0

  mutating func begin(_ schema: Schema) { columns = schema.columns.count }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
    count += 1
    if case .integer(let id) = row.id { ids &+= Int(id) }
    row.withGeometry { geometryBytes += $0.byteCount }
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
