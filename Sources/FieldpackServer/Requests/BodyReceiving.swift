/// Takes the body of a request while it comes, so that it need not fit in memory.
public protocol BodyReceiving: AnyObject, Sendable {
  /// Takes the next bytes. It is called on the thread of the connection, one call after the other.
  ///
  /// - Returns: the answer where the body is not wanted any more. The rest of it is then passed over.
  func take(_ bytes: UnsafeRawBufferPointer) -> ServerResponse?
}
