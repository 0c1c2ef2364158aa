package import FieldpackCore

/// The ids of collections, which are the names of layers.
///
/// No part of a path can be empty, `.` or `..`, also not with escapes: clients and proxies resolve
/// them (RFC 3986, 6.2.2.3), and some read `..;a` so, too. A layer with such a name has a tilde
/// before it, and so has one whose name is a tilde before such a name.
package enum CollectionName {
  package static func id(of layer: LayerID) -> String {
    isUnusable(layer.rawValue) ? "~" + layer.rawValue : layer.rawValue
  }

  /// The layer that a part of a path means.
  package static func layer(_ id: String) -> LayerID {
    let isMarked = id.utf8.first == UInt8(ascii: "~") && isUnusable(String(id.dropFirst()))
    return LayerID(isMarked ? String(id.dropFirst()) : id)
  }

  private static func isUnusable(_ name: String) -> Bool {
    let rest = name.drop { $0 == "~" }
    return ["", ".", ".."].contains(rest.prefix { $0 != ";" })
  }
}
