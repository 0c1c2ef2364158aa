package import FieldpackCore

/// The files of a shapefile, which lie beside each other with one stem, their extensions in any
/// case.
package struct ShapefileSet {
  /// What each file holds.
  package enum Part: String, CaseIterable {
    case shapes = "shp"
    case index = "shx"
    case table = "dbf"
    case projection = "prj"
    case codePage = "cpg"
  }

  /// The name of the set without extension, as errors say it.
  let stem: String
  private var files: [Part: ByteInput] = [:]

  /// Opens the set that `input` belongs to.
  package init(around input: ByteInput) throws(FieldpackError) {
    guard let path = input.path else {
      throw FieldpackError(
        .invalidArgument,
        "a shapefile is several files, and this is one. Try: the .shp beside the others, or a zip",
        position: FilePosition(file: input.name))
    }
    stem = Self.stem(of: input.name)
    let own = Self.part(of: path) ?? .shapes
    files[own] = input
    for (part, path) in Self.files(beside: path) where part != own {
      files[part] = try ByteInput(path: path, name: Self.stem(of: input.name) + Self.dotted(path))
    }
  }

  /// - Parameter stem: what errors call the files, without extension.
  package init(stem: String, files: [Part: ByteInput]) {
    self.stem = stem
    self.files = files
  }

  subscript(part: Part) -> ByteInput? { files[part] }

  /// The name of a file that is missing.
  func name(_ part: Part) -> String { files[part]?.name ?? "\(stem).\(part.rawValue)" }

  // MARK: Finding

  /// The files of the set that `path` belongs to, in a fixed order.
  package static func files(beside path: String) -> [(Part, String)] {
    let (folder, name) = FileSystem.split(path)
    let wanted = stem(of: name) + "."
    let names = FileSystem.names(in: folder) ?? Part.allCases.map { wanted + $0.rawValue }
    var found: [Part: String] = [:]
    for name in names.sorted() where name.hasPrefix(wanted) {
      guard let part = part(of: name), stem(of: name) + "." == wanted else { continue }
      // Small letters come last, and are what most programs write.
      if FileSystem.size(folder + name) != nil { found[part] = folder + name }
    }
    return Part.allCases.compactMap { part in found[part].map { (part, $0) } }
  }

  /// The path without its extension.
  package static func stem(of path: String) -> String {
    String(path.dropLast(dotted(path).count))
  }

  /// What a file of such a set holds, as its extension tells.
  package static func part(of path: String) -> Part? {
    Part(rawValue: dotted(path).dropFirst().lowercased())
  }

  /// The extension with its dot; empty where there is none.
  private static func dotted(_ path: String) -> String {
    let name = FileSystem.split(path).name
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
    return String(name[dot...])
  }
}
