/// The name of an element, attribute or type: the address of its namespace, and the name in it.
package struct XMLQName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// `nil` where the name is in no namespace.
  package let namespace: String?
  package let local: String

  package init(_ local: String, in namespace: String? = nil) {
    self.namespace = namespace == "" ? nil : namespace
    self.local = local
  }

  package init(stringLiteral local: String) { self.init(local) }

  /// `{namespace}local`.
  package var description: String { namespace.map { "{\($0)}\(local)" } ?? local }

  /// The namespace that the prefix `xml` has in every document.
  package static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

  /// The attribute that names the type of an element, `xsi:type`.
  package static let type = XMLQName("type", in: "http://www.w3.org/2001/XMLSchema-instance")
}
