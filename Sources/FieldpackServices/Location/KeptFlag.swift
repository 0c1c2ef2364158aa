import FieldpackCore

/// A choice that outlives the program: a member of the object in `settings.json` of a folder.
struct KeptFlag: Sendable {
  private let name: String
  private let path: String

  init(_ name: String, in folder: String) {
    self.name = name
    path = FileSystem.join(folder, "settings.json")
  }

  /// `false` where nothing is kept.
  func read() async throws(FieldpackError) -> Bool {
    let path = path
    let members = try await SystemThread.run { () throws(FieldpackError) in try Self.members(path) }
    return members.last { $0.name == name }?.value == .boolean(true)
  }

  /// Keeps the choice; other members of the file stay.
  func write(_ value: Bool) async throws(FieldpackError) {
    let (name, path) = (name, path)
    try await SystemThread.run { () throws(FieldpackError) in
      var members = try Self.members(path)
      members.removeAll { $0.name == name }
      members.append(.init(name: name, value: .boolean(value)))
      let text = JSONValue.object(members).text + "\n"
      let pending = try PendingFile(target: path, overwrite: true)
      try FileSystem.write(text.utf8Span.span.bytes, to: pending.descriptor, path: path)
      try pending.commit()
    }
  }

  private static func members(_ path: String) throws(FieldpackError) -> [JSONValue.Member] {
    let text: [UInt8]
    do throws(FieldpackError) { text = try ByteInput(path: path).head(1 << 16) } catch {
      guard error.code == .notFound else { throw error }
      return []
    }
    guard
      case .object(let members)? = try? JSONValueReader.read(String(decoding: text, as: UTF8.self))
    else {
      throw FieldpackError(
        .invalidData, "\(path) does not hold the settings of services. Try: remove it",
        position: FilePosition(file: path))
    }
    return members
  }
}
