/// A small JSON document in a file of its own, which is always whole.
package enum JSONFile {
  /// - Returns: `nil` where the file is missing, cannot be read, or is no JSON document of at most
  ///   64 kB.
  package static func read(_ path: String) -> JSONValue? {
    guard let bytes = try? ByteInput(path: path).head(1 << 16) else { return nil }
    return try? JSONValueReader.read(String(decoding: bytes, as: UTF8.self))
  }

  /// Replaces what is there, also a link: who gave the folder may have made it to reach another file.
  package static func write(_ value: JSONValue, to path: String) throws(FieldpackError) {
    if PendingFile.readLink(path) != nil { FileSystem.remove(path) }
    let text = value.text + "\n"
    let pending = try PendingFile(target: path, overwrite: true)
    try FileSystem.write(text.utf8Span.span.bytes, to: pending.descriptor, path: path)
    try pending.commit(mode: 0o600)
  }
}
