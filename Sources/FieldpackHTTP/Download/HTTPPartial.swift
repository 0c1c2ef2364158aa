import FieldpackCore

/// What is there of a body that came in part, and how a server knows the version that it is of.
package struct HTTPPartial: Hashable, Sendable {
  /// The number of bytes that are there, from the start.
  package var length = 0
  /// The number of bytes of the whole body, where the server tells it.
  package var total: Int?
  /// `nil` where the server gives no sign of the version by which one could go on.
  package var validator: HTTPValidator?

  init() {}

  /// The beginning of a whole body.
  init(_ head: HTTPResponse) {
    total = head.bodyLength
    validator = HTTPValidator(head)
  }

  var isWhole: Bool { length == total }

  /// The fields that ask for the rest, or for all where it is another version by now (RFC 9110,
  /// 13.1.5); `nil` where there is nothing to go on from.
  var fieldsForRest: [String: String]? {
    guard length > 0, let validator else { return nil }
    return ["Range": "bytes=\(length)-", "If-Range": validator.text]
  }

  /// Whether a partial answer goes on where these bytes end, in the same version; if so, the length
  /// of the whole is taken over from it.
  mutating func goesOn(with head: HTTPResponse) -> Bool {
    guard let range = head.fields["Content-Range"].flatMap({ HTTPContentRange($0) }),
      range.bytes.lowerBound == length, let whole = range.total ?? total,
      range.bytes.upperBound <= whole, total == nil || total == whole,
      head.bodyLength == nil || head.bodyLength == range.bytes.count,
      validator?.isContradicted(by: head) == false, head.contentCoding == nil
    else { return false }
    total = whole
    return true
  }
}

/// The sign of a version of a resource that two different versions never share (RFC 9110, 8.8).
package enum HTTPValidator: Hashable, Sendable {
  /// An `ETag`, with its quotes.
  case entityTag(String)
  /// A `Last-Modified`, as the server wrote it.
  case lastModified(String)

  /// - Returns: `nil` where the answer has only a weak sign, or none.
  package init?(_ head: HTTPResponse) {
    if let tag = head.fields["ETag"] {
      guard tag.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") else { return nil }
      self = .entityTag(tag)
    } else if let text = head.fields["Last-Modified"], let changed = HTTPResponse.date(text),
      let answered = head.fields["Date"].flatMap({ HTTPResponse.date($0) }),
      // A file may change twice within the second that a date names (RFC 9110, 8.8.2.2).
      answered.milliseconds - changed.milliseconds >= 1000
    {
      self = .lastModified(text)
    } else {
      return nil
    }
    guard HTTPFields.Field("If-Range", text).isSound else { return nil }
  }

  /// The value of the field that it came in.
  package var text: String {
    switch self {
    case .entityTag(let text), .lastModified(let text): text
    }
  }

  /// Whether the answer has another sign of the same kind.
  func isContradicted(by head: HTTPResponse) -> Bool {
    let name =
      switch self {
      case .entityTag: "ETag"
      case .lastModified: "Last-Modified"
      }
    return head.fields[name].map { $0 != text } ?? false
  }
}

extension HTTPResponse {
  /// The announced length of the body that comes with this head, in bytes.
  var bodyLength: Int? {
    guard fields["Transfer-Encoding"] == nil else { return nil }
    return fields["Content-Length"].flatMap { HTTPSyntax.number($0) }
  }

  /// How the body is compressed or otherwise coded; `nil` where it is as it is.
  var contentCoding: String? {
    fields["Content-Encoding"].flatMap { $0.lowercased() == "identity" ? nil : $0 }
  }
}
