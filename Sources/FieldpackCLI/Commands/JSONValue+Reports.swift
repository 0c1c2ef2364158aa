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
      "column": JSONValue(position.column), "byte_offset": JSONValue(position.byteOffset),
      "feature_number": JSONValue(position.feature),
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

  /// Metres with at most three digits after the point.
  init(metres: Double?) {
    guard let metres else {
      self = nil
      return
    }
    // Beyond this there is no digit after the point to cut off.
    self = .real(abs(metres) < 1e12 ? (metres * 1000).rounded() / 1000 : metres)
  }

  /// Milliseconds with at most three digits after the point.
  init(_ duration: Duration) { self.init(metres: duration.milliseconds) }

  init(_ skipped: SkippedFeature) {
    self = [
      "layer": JSONValue(skipped.location.layer?.rawValue),
      "feature": JSONValue(skipped.location.feature), "position": JSONValue(skipped.position),
      "message": .text(skipped.text),
    ]
  }

  init(_ report: TransformationReport) {
    self = [
      "source_srs": .text(report.source), "target_srs": .text(report.target),
      "operation": .text(report.operation),
      "accuracy_m": JSONValue(metres: report.accuracy),
      "missing_grids": JSONValue(report.missingGrids),
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
