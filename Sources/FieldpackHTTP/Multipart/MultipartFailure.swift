import FieldpackCore

/// What is wrong with a form of several parts, as the `underlying` of the error.
package enum MultipartFailure: Error, Hashable, Sendable {
  /// The type is that of no form, or names no boundary.
  case noBoundary
  /// The body begins with something else than its boundary.
  case wrongBoundary
  /// The body ends before its last boundary.
  case noEnd
  /// The header of a part is too long.
  case longHead
  case tooManyParts
  /// After a boundary, or in the header of a part, stands what must not stand there.
  case malformed
}

extension FieldpackError {
  init(_ failure: MultipartFailure, _ message: String) {
    self.init(.invalidData, message, underlying: failure)
  }
}
