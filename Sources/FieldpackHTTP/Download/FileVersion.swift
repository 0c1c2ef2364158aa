/// The signs by which a server tells whether a file has changed (RFC 9110, 13.1).
package struct FileVersion: Hashable, Sendable {
  /// An `ETag`, weak or strong.
  package var entityTag: String?
  /// A `Last-Modified`, as the server wrote it.
  package var lastModified: String?

  package init() {}

  package init(_ head: HTTPResponse) {
    entityTag = head.fields["ETag"]
    lastModified = head.fields["Last-Modified"]
  }

  /// The fields that ask for the file only if it is another one.
  package var fields: HTTPFields {
    var fields: HTTPFields = [:]
    fields["If-None-Match"] = entityTag
    fields["If-Modified-Since"] = lastModified
    return fields
  }
}
