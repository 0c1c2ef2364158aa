/// A token, which nothing shows that describes or reflects what holds it.
struct Secret: Hashable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  var description: String { "(hidden)" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: []) }
}
