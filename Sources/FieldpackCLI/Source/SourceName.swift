import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A source as people name it: `SOURCE` or `SOURCE:LAYER`.
///
/// A path that exists is one, whatever colons are in its name. Else the layer stands after the last
/// colon that follows a path that exists, so layers may have colons in their names, too.
struct SourceName: Hashable, Sendable {
  let path: String
  /// `nil` where no layer is named.
  let layer: LayerID?

  init(_ text: String) throws(ValueError) {
    guard !text.isEmpty else { throw ValueError("is empty") }
    guard let colon = Self.colon(in: text) else {
      (path, layer) = (text, nil)
      return
    }
    let name = text[text.index(after: colon)...]
    guard !name.isEmpty else { throw ValueError("names no layer after the colon") }
    path = String(text[..<colon])
    layer = LayerID(String(name))
  }

  /// The path, and what of it where that is named.
  init(path: String, layer: LayerID? = nil) {
    (self.path, self.layer) = (path, layer)
  }

  /// Whether it is a config by its name.
  var isConfig: Bool { path.lowercased().hasSuffix(".scfg") }

  /// Whether there is such a file or folder.
  var exists: Bool { Self.exists(path[...]) }

  /// The colon before the layer; `nil` where the text is a path.
  ///
  /// Of a file that does not exist the extension tells where its name ends.
  static func colon(in text: String) -> String.Index? {
    let colons = text.indices.filter { text[$0] == ":" && $0 != text.startIndex }
    guard !colons.isEmpty, !exists(text[...]) else { return nil }
    return colons.last { exists(text[..<$0]) }
      ?? colons.first { colon in
        let path = text[..<colon].lowercased()
        return SourceArguments.extensions.contains { path.hasSuffix(".\($0)") }
      }
  }

  private static func exists(_ path: Substring) -> Bool {
    path == "-" || access(ShellWord.expandingHome(String(path)), F_OK) == 0
  }
}

extension ValueForm where Value == SourceName {
  static func source(
    _ placeholder: String = "source", _ extensions: [String] = SourceArguments.extensions
  ) -> ValueForm {
    ValueForm(placeholder, completion: .source(extensions)) {
      (text) throws(ValueError) in try SourceName(text)
    }
  }
}

extension ValueForm where Value == SourceName {
  /// A GeoPackage with all its layers, or a store of a config.
  static var fileOrStore: ValueForm {
    ValueForm("source", completion: .source(["gpkg", "scfg"])) {
      (text) throws(ValueError) -> SourceName in
      let source = try SourceName(text)
      guard source.isConfig || source.layer == nil else { throw .layer(of: source) }
      return source
    }
  }
}

extension ValueError {
  fileprivate static func layer(of source: SourceName) -> ValueError {
    ValueError("names a layer where a whole source is taken. Try: \(source.path)")
  }
}

extension ValueForm where Value == String {
  /// A source that is taken with all its layers.
  static func whole(_ placeholder: String, completion: CompletionHint) -> ValueForm {
    ValueForm(placeholder, completion: completion) { (text) throws(ValueError) -> String in
      let source = try SourceName(text)
      guard source.layer == nil else { throw .layer(of: source) }
      return source.path
    }
  }

  /// A GeoPackage that is written to, made where it is missing.
  static var target: ValueForm { whole("gpkg", completion: .files(["gpkg"])) }
}
