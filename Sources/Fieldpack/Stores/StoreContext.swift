public import FieldpackCore
import FieldpackField
public import FieldpackGeoPackage
public import FieldpackHTTP

/// What a workspace decides for all stores that it opens.
///
/// Copies share one HTTP client, which is made when it is first asked for.
public struct StoreContext: Sendable {
  /// Where stores of files that are no GeoPackages keep what they import.
  public var cache = CachePolicy.shared
  /// Whether GeoPackages are in WAL mode from their first change until the workspace is closed.
  public var usesWAL = true
  /// Lets all triggers of all GeoPackages run, see `OpeningProfile.runsTriggers`.
  public var runsTriggers = false
  /// Who edits: what the change logs of GeoPackages say of the workspace's edits.
  public var editor: Editor?
  /// The folder of files that stores download, of all configs together; `nil` for the folder beside
  /// each config, such as `survey.stores` for `survey.scfg`.
  public var folder: String?
  /// Gets what is opened and how long that takes, but no values.
  public var logger = Logger.silent
  private let http: HTTPConfiguration
  private let shared = Locked<HTTPClient?>(nil)

  /// - Parameter http: the limits of the stores' HTTP client.
  public init(http: HTTPConfiguration = HTTPConfiguration()) { self.http = http }

  /// The client by which all stores of a workspace ask servers.
  public func client() throws(FieldpackError) -> HTTPClient {
    try shared.withLock { (client) throws(FieldpackError) in
      if let client { return client }
      let new = try HTTPClient(http)
      client = new
      return new
    }
  }

  /// The file of a store: what its uri leads to, see ``StoreConfig/localFile()``, or the file that was
  /// downloaded from there. A file that came from another address is not that of the store.
  ///
  /// - Throws: as ``StoreConfig/localFile()``; `.unavailable` for a file that is not downloaded yet.
  public func file(of config: StoreConfig) throws(FieldpackError) -> String {
    guard config.isRemote, let download = download(of: config) else {
      return try config.localFile()
    }
    do throws(FieldpackError) {
      let file = try download.localFile()
      return DownloadOrigin.mayBe(config.address, of: file) ? file : try config.localFile()
    } catch {
      guard error.code == .notFound else { throw error }
      return try config.localFile()
    }
  }

  /// The path at which the file of a remote store is kept, whether or not it is there; `nil` where no
  /// folder is known.
  ///
  /// - Throws: `.permission` where the folder or the file is a link that leads elsewhere;
  ///   `.configuration` for the id of a store of the services, whose own file is there.
  package func downloadPath(of config: StoreConfig) throws(FieldpackError) -> String? {
    try config.refuseBuiltIn()
    return try download(of: config)?.allowedPath().path
  }

  /// Whether the file of a remote store is there, and came from the store's uri as far as is known.
  ///
  /// - Throws: as ``downloadPath(of:)``.
  package func hasDownload(of config: StoreConfig) throws(FieldpackError) -> Bool {
    guard let path = try downloadPath(of: config) else { return false }
    return FileSystem.size(path) != nil && DownloadOrigin.mayBe(config.address, of: path)
  }

  /// A store whose uri is the downloaded file. A plain uri is a name as it stands, whatever its signs.
  private func download(of config: StoreConfig) -> StoreConfig? {
    var download = config
    download.allowing = []
    let name = "\(config.id.fileName).\(config.fileExtension)"
    if let folder {
      (download.folder, download.uri) = (folder, name)
    } else if let folder = config.storeFolder {
      download.folder = FileSystem.folder(of: folder)
      download.uri = FileSystem.name(of: folder) + "/" + name
    } else {
      return nil
    }
    return download
  }
}

extension Editor {
  /// An author on this device. The UUID of the device is kept in the file that
  /// ``FieldpackField/MachineIdentity`` has for devices, which is made when an edit is first logged.
  public static func onThisDevice(author: String? = nil) -> Editor {
    var editor = Editor(author: author)
    editor.keptDevice = .ofMachine
    return editor
  }
}

extension KeptDevice {
  fileprivate static let ofMachine = KeptDevice { () throws(FieldpackError) in
    try MachineIdentity.stored(.device).uuid
  }
}

extension StoreID {
  /// The id as the name of a file, different for different ids.
  ///
  /// ASCII letters, digits, `-`, `_` and `.` stand as they are, but for a `.` at the start; all other
  /// bytes are percent-encoded. A name of more than 180 bytes is cut and ends in a digest of the id.
  package var fileName: String {
    var name = ""
    for byte in rawValue.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        name.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: ".") where !name.isEmpty:
        name += "."
      default:
        name += "%" + String(hex: [byte]).uppercased()
      }
    }
    // No escape is a single sign, or has two of them.
    if name.isEmpty { return "%" }
    guard name.utf8.count > 180 else { return name }
    return "\(name.prefix(100))%%\(SHA256.hex(Array(rawValue.utf8)))"
  }
}

extension StoreConfig {
  /// Whether the id is that of a store of the services, which no config describes.
  package var isBuiltIn: Bool { builtInContent != nil }

  /// What a store of the services keeps under this id.
  private var builtInContent: String? {
    switch id.rawValue {
    case "FORM_STORE": "forms"
    case "LOCATION_STORE": "positions"
    default: nil
    }
  }

  /// - Throws: `.configuration` for the id of a store of the services.
  package func refuseBuiltIn() throws(FieldpackError) {
    guard let content = builtInContent else { return }
    throw failure(.configuration, "the id '\(id)' is kept for the store of \(content)")
  }

  /// The extension of the file that is downloaded for the store: its type, or that of an archive.
  fileprivate var fileExtension: String {
    let path = uri.prefix { $0 != "?" && $0 != "#" }
    switch Format.fileExtension(String(path)) {
    case "zip": return "zip"
    case "kmz": return "kmz"
    // The copy of a service is a GeoPackage.
    case _ where type == "wfs": return "gpkg"
    default: return StoreID(type).fileName
    }
  }
}
