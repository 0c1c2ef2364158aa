public import FieldpackCore
import FieldpackGeoPackage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension ItemExport {
  /// Writes a folder with `session.json` and the files of all items, as they are stored; the whole of it
  /// or nothing.
  ///
  /// - Parameter folder: one that is not there, or is empty. Only this user can read it.
  /// - Throws: `.cannotCreate` where it is there.
  public func writeFolder(to folder: String) async throws(FieldpackError) {
    let tree = try PendingTree(target: folder)
    guard chmod(tree.path, 0o700) == 0, mkdir("\(tree.path)/media", 0o700) == 0 else {
      throw .system(errno, "create", folder)
    }
    for row in rows {
      for (item, files) in row.items {
        for (index, file) in files.enumerated() {
          if Task.isCancelled { throw FieldpackError(.interrupted, "the export was cancelled") }
          let path = "\(tree.path)/\(Self.path(item, index, file))"
          try await catalogue.store.read { (snapshot) throws(FieldpackError) in
            _ = try snapshot.withMedia(file.id, in: SensorLayers.media) {
              (bytes, _) throws(FieldpackError) in
              try bytes.withUnsafeBytes { (bytes) throws(FieldpackError) in
                try Self.write(bytes, to: path)
              }
            }
          }
        }
      }
    }
    let text = document(path: Self.path).text + "\n"
    try Array(text.utf8).span.bytes.withUnsafeBytes { (bytes) throws(FieldpackError) in
      try Self.write(bytes, to: "\(tree.path)/session.json")
    }
    try tree.commit()
  }

  /// Such as `media/7.bmp`, `media/7-2.png` for the second file, and `media/7-thumbnail.png`. What a
  /// sensor says makes no part of a name.
  private static func path(_ item: Item, _ index: Int, _ file: ItemFile) -> String {
    let ending: String =
      switch MediaType(rawValue: file.contentType) {
      case .jpeg: "jpg"
      case .png: "png"
      case .bmp: "bmp"
      case .gif: "gif"
      case .webp: "webp"
      case .tiff: "tif"
      case .jpeg2000: "jp2"
      default: "bin"
      }
    let number = index == 0 ? "" : "-\(index + 1)"
    let part = file.role == .thumbnail ? "-thumbnail" : number
    return "media/\(item.key.feature)\(part).\(ending)"
  }

  private static func write(
    _ bytes: UnsafeRawBufferPointer, to path: String
  ) throws(FieldpackError) {
    guard let descriptor = FileSystem.create(path, mode: 0o600) else {
      throw .system(errno, "create", path)
    }
    defer { close(descriptor) }
    try FileSystem.write(bytes, to: descriptor, path: path)
  }

  // MARK: Page

  /// One page of HTML with a row for each person and a cell for each item, with the thumbnails in it. It
  /// loads nothing, and runs nothing.
  public func page() async throws(FieldpackError) -> String {
    var body = ""
    for row in rows {
      let name = row.person.details.name
      body +=
        "<section>\n<h2>\(name.isEmpty ? "Person \(row.person.key.feature)" : Self.shown(name))"
      body += "</h2>\n" + Self.details(of: row.person) + "<div>\n"
      for (item, files) in row.items { body += try await cell(item, files) }
      body += "</div>\n</section>\n"
    }
    return """
      <!DOCTYPE html>
      <html lang="en">
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; \
      style-src 'unsafe-inline'">
      <title>Biometric session</title>
      <style>
      body { font: 16px sans-serif; margin: 2em }
      div { display: flex; flex-wrap: wrap; gap: 1em }
      figure { margin: 0; width: 114px; font-size: 13px }
      figure img, figure span { display: block; width: 114px; height: 114px; border-radius: 18px; \
      background: #eee }
      dl { display: grid; grid-template-columns: max-content auto; gap: 0 1em; font-size: 13px }
      dd { margin: 0; white-space: pre-wrap }
      </style>
      <h1>Biometric session</h1>
      <p>\(personCount.counting("person")), \(itemCount.counting("item"))</p>
      \(body)</html>

      """
  }

  private static func shown(_ text: String) -> String { XMLText.escaped(text) }

  private static func details(of person: Person) -> String {
    var pairs: [(String, String)] = []
    for (name, path) in PersonDetails.texts {
      if let text = person.details[keyPath: path], !text.isEmpty { pairs.append((name, text)) }
    }
    for (name, path) in PersonDetails.lists where !person.details[keyPath: path].isEmpty {
      pairs.append(
        (
          String(name.dropLast("_json".count)),
          person.details[keyPath: path].joined(separator: "; ")
        ))
    }
    guard !pairs.isEmpty else { return "" }
    let rows = pairs.map { name, text in
      "<dt>\(name.replacing("_", with: " "))</dt><dd>\(shown(text))</dd>\n"
    }
    return "<dl>\n" + rows.joined() + "</dl>\n"
  }

  private func cell(_ item: Item, _ files: [ItemFile]) async throws(FieldpackError) -> String {
    var picture = "<span></span>"
    if let file = Self.thumbnail(of: files), let bytes = try await catalogue.content(of: file) {
      picture =
        "<img alt=\"\(Self.shown(item.title))\" "
        + "src=\"data:image/png;base64,\(Base64.encode(bytes))\">"
    }
    var lines = [Self.shown(item.title)]
    let parts = item.captureType?.annotatedParts ?? [""]
    let marked = zip(parts, item.annotations).filter(\.1).map { $0.0.isEmpty ? "marked" : $0.0 }
    if !marked.isEmpty { lines.append(marked.joined(separator: ", ")) }
    if let notes = item.notes { lines.append(Self.shown(notes)) }
    return
      "<figure>\(picture)<figcaption>\(lines.joined(separator: "<br>"))</figcaption></figure>\n"
  }
}
