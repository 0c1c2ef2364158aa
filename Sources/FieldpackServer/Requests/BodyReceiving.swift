/// Takes the body of a request while it comes, so that it need not fit in memory.
package protocol BodyReceiving: AnyObject, Sendable {
  /// Takes the next bytes. All calls come from the thread of the connection, one after the other.
  ///
  /// - Returns: a refusal, after which the rest of the body is dropped; `nil` to go on.
  func take(_ bytes: UnsafeRawBufferPointer) -> ServerResponse?
}
