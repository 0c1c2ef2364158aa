import FieldpackArchive
import FieldpackCore
import FieldpackField

/// The bundles of a folder: each `NAME.zip` is an app of pages by that name.
///
/// The folder is looked at anew whenever somebody asks for the list or for the first page of a bundle.
/// Archives are unpacked to a temporary folder, which ``close()`` removes.
actor BundleFolder {
  struct Bundle: Sendable {
    let name: String
    /// Shows that a page is one of this bundle, as it has no origin to show.
    let key: String
    /// Where the files lie.
    let folder: String
    let files: Set<String>
  }

  /// An archive, and what became of it.
  struct Entry: Sendable {
    let name: String
    let bundle: Result<Bundle, BundleArchive.Refusal>
  }

  private let folder: String
  private let unpacked: String
  private var entries: [String: (stamp: FileStamp?, entry: Entry)] = [:]
  private var keys: [String: String] = [:]
  private var last = 0
  private var scan: Task<Void, Never>?

  init(_ folder: String) {
    self.folder = folder.hasSuffix("/") ? folder : folder + "/"
    unpacked =
      "\(UnnamedFile.usualFolder)/fieldpack-bundles-\(RandomID.make())"
  }

  // MARK: Looking

  /// All archives of the folder, by name.
  func list() async -> [Entry] {
    await look()
    return entries.values.map(\.entry).sorted { $0.name < $1.name }
  }

  /// A bundle as it was when the folder was last looked at.
  func bundle(_ name: String) -> Bundle? { try? entries[name]?.entry.bundle.get() }

  /// The bundle whose key this is.
  func name(ofKey key: String) -> String? { keys.first { $0.value == key }?.key }

  /// Looks at the folder, one after the other.
  func look() async {
    let before = scan
    let task = Task {
      await before?.value
      await self.update()
    }
    scan = task
    await task.value
  }

  private func update() async {
    var found: [String: FileStamp?] = [:]
    for file in FileSystem.names(in: folder) ?? []
    where file.lowercased().hasSuffix(".zip") && !file.hasPrefix(".") {
      found[String(file.dropLast(4))] = .some(FileStamp(folder + file))
    }
    for (name, known) in entries where found[name] != known.stamp { drop(name) }
    // Pages of an archive that has gone lose the bridge; those of one that changed keep it.
    keys = keys.filter { found[$0.key] != nil }
    for (name, stamp) in found.sorted(by: { $0.key < $1.key }) where entries[name] == nil {
      entries[name] = (stamp, await unpack(name))
    }
  }

  private func drop(_ name: String) {
    if let bundle = bundle(name) { FileSystem.removeTree(bundle.folder) }
    entries[name] = nil
  }

  // MARK: Unpacking

  private func unpack(_ name: String) async -> Entry {
    last += 1
    let (archive, target) = (path(of: name), "\(unpacked)/\(last)")
    let result: Result<Set<String>, BundleArchive.Refusal> = await withCheckedContinuation {
      continuation in
      let isRunning = SystemThread.start {
        continuation.resume(
          returning: Result { () throws(BundleArchive.Refusal) in
            try BundleArchive(archive).unpack(to: target)
          })
      }
      if !isRunning {
        continuation.resume(returning: .failure(.init(reason: SystemThread.shortage.message)))
      }
    }
    let key = keys[name] ?? RandomID.make()
    return Entry(
      name: name,
      bundle: result.map { files in
        keys[name] = key
        return Bundle(name: name, key: key, folder: target, files: files)
      })
  }

  /// The archive of a name, whatever the case of its ending.
  private func path(of name: String) -> String {
    let files = FileSystem.names(in: folder) ?? []
    let file = files.first { file in
      file.dropLast(4) == name && file.lowercased().hasSuffix(".zip")
    }
    return folder + (file ?? name + ".zip")
  }

  func close() {
    entries = [:]
    FileSystem.removeTree(unpacked)
  }
}
