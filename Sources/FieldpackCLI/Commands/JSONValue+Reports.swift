import FieldpackCore
import FieldpackGeometry

extension JSONValue {
  /// Where in a file; what is not known is `null`.
  init(_ position: FilePosition?) {
    guard let position else {
      self = nil
      return
    }
    self = [
      "file": JSONValue(position.file), "line": JSONValue(position.line),
      "column": JSONValue(position.column), "byteOffset": JSONValue(position.byteOffset),
      "feature": JSONValue(position.feature),
    ]
  }

  init(_ id: FeatureID?) {
    self =
      switch id {
      case .integer(let id): .integer(id)
      case .text(let id): .text(id)
      case nil: nil
      }
  }

  init(_ skipped: SkippedFeature) {
    self = [
      "layer": JSONValue(skipped.location.layer?.rawValue),
      "feature": JSONValue(skipped.location.feature), "position": JSONValue(skipped.position),
      "reason": .text(skipped.text),
    ]
  }

  init(_ report: TransformationReport) {
    self = [
      "source": .text(report.source), "target": .text(report.target),
      "operation": .text(report.operation),
      "accuracy": report.accuracy.map { .real($0) } ?? nil,
      "missingGrids": JSONValue(report.missingGrids),
    ]
  }
}

extension SkippedFeature {
  /// `FILE:LINE, feature N: reason`, with what is known of the place.
  var line: String {
    if let position { return "\(position): \(text)" }
    let names = [location.layer?.rawValue, location.feature?.description].compactMap { $0 }
    return names.isEmpty ? text : "\(names.joined(separator: "/")): \(text)"
  }
}

extension TransformationReport {
  /// What a person wants to know of it, in one line.
  var line: String {
    let accuracy = accuracy.map { "accuracy \(JSONValue.real($0).text) m" } ?? "accuracy unknown"
    let grids =
      missingGrids.isEmpty
      ? "" : "; better with grids that are missing: \(missingGrids.joined(separator: ", "))"
    return "\(source) to \(target): \(operation) (\(accuracy)\(grids))"
  }
}
