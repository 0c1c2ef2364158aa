import FieldpackCore

/// An error as the tool shows it.
struct ErrorReport: Sendable {
  let error: FieldpackError

  init(_ error: FieldpackError) { self.error = error }

  /// `fieldpack: PLACE: what (why). Try: …`, with an end of line.
  var line: String {
    let place = place.map { $0 + ": " } ?? ""
    return DisplayText.visible("fieldpack: \(place)\(error.text)") + "\n"
  }

  /// `{"error":{…}}`: what is not known is `null`.
  package var document: JSONValue {
    let (message, hint) = parts
    return [
      "error": [
        "code": .text(error.code.name), "message": .text(message),
        "store": JSONValue(error.location.store?.rawValue),
        "layer": JSONValue(error.location.layer?.rawValue),
        "feature": JSONValue(error.location.feature),
        "position": JSONValue(error.position), "hint": JSONValue(hint),
      ]
    ]
  }

  /// What happened, and what to do about it.
  private var parts: (message: String, hint: String?) {
    let text = error.text
    guard let mark = text.ranges(of: ". Try: ").last else { return (text, nil) }
    return (String(text[..<mark.lowerBound]), String(text[mark.upperBound...]))
  }

  /// Where it happened, unless the message says so itself.
  private var place: String? {
    let message = error.text
    if let position = error.position {
      let text = position.description
      return text.isEmpty || message.contains(text) ? nil : text
    }
    let location = error.location
    let names = [location.store?.rawValue, location.layer?.rawValue, location.feature?.description]
      .compactMap { $0 }
    guard names.contains(where: { !message.contains($0) }) else { return nil }
    return names.joined(separator: "/")
  }
}
