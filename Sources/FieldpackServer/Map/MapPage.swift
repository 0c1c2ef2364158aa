import FieldpackCore

/// The files of the page with the map, at `/map`.
///
/// The page's own files are part of the program, so that one file is the whole server. Leaflet is read
/// from the folder of Debian's package libjs-leaflet.
final class MapPage: Sendable {
  /// A file as it is sent, with its entity tag.
  struct File: Hashable {
    var type: String
    var bytes: [UInt8]
    var tag: String

    init(type: String, bytes: [UInt8]) {
      self.type = type
      self.bytes = bytes
      tag = PublishedStore.tag(of: bytes)
    }
  }

  static let debianLeaflet = "/usr/share/javascript/leaflet"

  /// What the page may load: files of its own server, and pictures and videos that its scripts make.
  static let policy =
    "default-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; object-src 'none'; "
    + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

  private let folder: String
  /// Files of Leaflet that were asked for, and the page for each base.
  private let kept = Locked<[String: File]>([:])
  private static let mostKept = 100

  /// - Parameter folder: the folder of Leaflet.
  init(leaflet folder: String = MapPage.debianLeaflet) { self.folder = folder }

  /// Whether Leaflet is installed; without Leaflet the page shows nothing.
  var hasLeaflet: Bool { leaflet("leaflet.esm.min.js") != nil }

  // MARK: Files

  /// The page with the map, with the path that clients know the server by.
  func page(base: LinkBase) -> File { page("map", PackageResources.map_html, base) }

  /// The page of an operator of sensors.
  func sensors(base: LinkBase) -> File { page("sensors", PackageResources.sensors_html, base) }

  private func page(_ name: String, _ bytes: [UInt8], _ base: LinkBase) -> File {
    let prefix = base.pathPrefix
    return keep("\(name) page \(prefix)") {
      let path = XMLText.escaped(prefix)
      let text = String(decoding: bytes, as: UTF8.self).replacing("{base}", with: path)
      return File(type: MediaType.html, bytes: Array(text.utf8))
    } ?? File(type: MediaType.html, bytes: bytes)
  }

  /// A file that the page asks for.
  ///
  /// - Parameter path: the parts of the path behind `/map/`.
  func file(_ path: [String]) -> File? {
    guard path.first == "leaflet" else { return path.count == 1 ? Self.own[path[0]] : nil }
    return leaflet(path.dropFirst().joined(separator: "/"))
  }

  private static let own: [String: File] = Dictionary(
    uniqueKeysWithValues: files.map { name, bytes in
      (name, File(type: type(of: name), bytes: bytes))
    })

  private static let pictures = [
    "layers.png", "layers-2x.png", "marker-icon.png", "marker-icon-2x.png", "marker-shadow.png",
  ]
  private static let leafletFiles =
    ["leaflet.css", "leaflet.esm.min.js"] + pictures.map { "images/" + $0 }

  /// Reads only the files of the list, whatever a client names.
  private func leaflet(_ name: String) -> File? {
    guard Self.leafletFiles.contains(name) else { return nil }
    return keep("leaflet/" + name) {
      guard let bytes = try? ByteInput(path: "\(folder)/\(name)").head(1 << 20) else { return nil }
      return File(type: Self.type(of: name), bytes: bytes)
    }
  }

  private func keep(_ key: String, _ make: () -> File?) -> File? {
    if let file = kept.withLock({ $0[key] }) { return file }
    guard let file = make() else { return nil }
    kept.withLock { kept in
      if kept.count >= Self.mostKept { kept = [:] }
      kept[key] = file
    }
    return file
  }

  private static func type(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "png": "image/png"
    case "svg": "image/svg+xml"
    default: MediaType.html
    }
  }
}
