public import FieldpackCore
import FieldpackFormats

/// Why a service gave no answer, or one that cannot be trusted: the `underlying` of the error.
public enum WFSFailure: Error, Hashable, Sendable {
  /// The service answered with an exception report.
  ///
  /// - Parameters:
  ///   - code: such as `InvalidParameterValue`; empty where the report has none.
  ///   - locator: the parameter or the place that the report names.
  ///   - text: the report's own words.
  case exception(code: String, locator: String?, text: String)
  /// A page begins with a feature that began an earlier one, so the pages would never end.
  case repeatedPage
  /// The service gave fewer features than it said match.
  case incomplete(matched: Int, given: Int)
  /// The answer is no document of a Web Feature Service, or of another version.
  case otherDocument
}

extension FieldpackError {
  /// Why a Web Feature Service failed, where that is the cause of the error.
  public var wfsFailure: WFSFailure? { underlying as? WFSFailure }

  init(_ code: Code, _ failure: WFSFailure, _ message: String) {
    self.init(code, message, underlying: failure)
  }
}

/// Reads exception reports of OWS 1.0 and 1.1, and service exception reports of WFS 1.0.0.
enum ExceptionReport {
  static func isOne(_ element: XMLTree) -> Bool {
    element.name.local == "ExceptionReport" || element.name.local == "ServiceExceptionReport"
  }

  /// The error that a report is about.
  static func error(_ report: XMLTree) -> FieldpackError {
    let exceptions = report.children.filter {
      $0.name.local == "Exception" || $0.name.local == "ServiceException"
    }
    guard let first = exceptions.first else {
      return FieldpackError(
        .unavailable, .exception(code: "", locator: nil, text: ""),
        "the service reports an exception without a reason")
    }
    let code = first["exceptionCode"] ?? first["code"] ?? ""
    let locator = first["locator"].flatMap { $0.isEmpty ? nil : $0 }
    let texts = first.children("ExceptionText").map(\.text) + [first.text]
    let text = shown(texts.joined(separator: " "))
    let place = locator.map { " (\(shown($0)))" } ?? ""
    let name = code.isEmpty ? "an exception" : shown(code)
    return FieldpackError(
      kind(of: code, locator), .exception(code: code, locator: locator, text: text),
      "the service reports \(name)\(place): \(text.isEmpty ? "no reason given" : text)")
  }

  private static func kind(of code: String, _ locator: String?) -> FieldpackError.Code {
    switch code {
    case "InvalidParameterValue", "InvalidValue":
      locator?.lowercased().hasPrefix("typename") == true ? .notFound : .invalidArgument
    case "MissingParameterValue", "OperationParsingFailed": .invalidArgument
    case "OperationNotSupported", "OptionNotSupported", "VersionNegotiationFailed": .unsupported
    case "NotFound": .notFound
    case "NotAuthorized", "Forbidden", "Security": .permission
    default: .unavailable
    }
  }

  /// The words of a service in one line of at most 500 characters.
  static func shown(_ text: String) -> String {
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return words.count > 500 ? words.prefix(500) + "…" : words
  }
}
