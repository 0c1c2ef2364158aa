import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation

@testable import FieldpackGeoPackage

/// What a file holds, as lines of text: one for each layer, with its counts, and below it what is
/// unusual; or the error that opening it gave.
struct Survey: FeatureSink {
  private var types: [String: Int] = [:]
  private var nulls = 0
  private var unreadable = 0
  private var count = 0
  private var extent = Envelope.empty

  mutating func begin(_ schema: Schema) {}

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    count += 1
    let name = row.withGeometry { wkb in
      (try? WKB.header(of: wkb)).map { header in
        let marks = (header.dimensions.hasZ ? "Z" : "") + (header.dimensions.hasM ? "M" : "")
        return header.type.name + (marks.isEmpty ? "" : " " + marks)
      }
    }
    guard let found = name else {
      nulls += 1
      return
    }
    guard let found else {
      unreadable += 1
      return
    }
    types[found, default: 0] += 1
    let envelope = try? row.withGeometry { wkb throws(GeometryError) in
      try WKB.envelope(of: wkb)
    }
    guard let known = envelope.flatMap({ $0 }).flatMap({ $0 }), !known.isEmpty else { return }
    extent.extend(x: known.minX, y: known.minY)
    extent.extend(x: known.maxX, y: known.maxY)
  }

  static func lines(
    of path: String, as profile: OpeningProfile = .foreign
  ) async -> [String] {
    do throws(FieldpackError) {
      let store = try await GeoPackageStore(path: path, id: "file", profile: profile)
      let lines = try await lines(of: store)
      await store.close()
      return lines
    } catch {
      let text = "\(error.code.name): \(Note("", error))"
      return [text.replacingOccurrences(of: path, with: "FILE")]
    }
  }

  private static func lines(of store: GeoPackageStore) async throws(FieldpackError) -> [String] {
    let whole = try await store.query(Query()).report.current
    var lines = whole.notes.map { "note: \($0)" }
    for layer in try await store.layers() {
      let report = QueryReport()
      do throws(FieldpackError) {
        let survey = try await store.scan(
          Query(layer.id).skippingErrors(), into: Survey(), report: report)
        lines.append(survey.line(layer))
      } catch {
        lines.append("\(layer.id) \(error.code.name): \(Note("", error))")
      }
      lines += layer.notes.map { "  note: \($0)" }
      let current = report.current
      lines += current.notes.map { "  note: \($0)" }
      lines += current.skipped.listed.map {
        let reason = Note($0.reason, advice: $0.advice)
        return "  skipped \($0.location.feature.map(\.description) ?? "?"): \(reason)"
      }
    }
    return lines
  }

  private func line(_ layer: Layer) -> String {
    var words = ["\(layer.id)", "\(count)" + (layer.featureCount == count ? "" : "≠counted")]
    if let geometry = layer.schema.geometry {
      words.append("\(geometry.name) \(geometry.type.name) \(geometry.srs)")
      words += types.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
      if nulls > 0 { words.append("null:\(nulls)") }
      if unreadable > 0 { words.append("unreadable:\(unreadable)") }
      words.append(Self.text(extent.isEmpty ? nil : extent))
      if layer.envelope != (extent.isEmpty ? nil : extent) {
        words.append("stated " + Self.text(layer.envelope))
      }
    }
    if layer.isView { words.append("view") }
    if layer.hasSpatialIndex { words.append("rtree") }
    let id = layer.schema.idColumn ?? "-"
    let columns = layer.schema.columns.map { "\($0.name) \($0.type.sql)" }
    let shown = columns.count > 12 ? "\(columns.count) columns" : columns.joined(separator: ", ")
    return words.joined(separator: " ") + " (" + id + (shown.isEmpty ? "" : "; " + shown) + ")"
  }

  private static func text(_ envelope: Envelope?) -> String {
    guard let envelope else { return "[]" }
    let bounds = [envelope.minX, envelope.minY, envelope.maxX, envelope.maxY]
    return "[" + bounds.map { "\($0)" }.joined(separator: " ") + "]"
  }
}
