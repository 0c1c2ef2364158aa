#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Paths as text. A slash is a byte: before a combining sign it is no `Character` of its own.
extension FileSystem {
  private static let slash = UInt8(ascii: "/")

  /// The folder that the last name of a path is in: `.` for a plain name. A slash at the end counts
  /// for nothing.
  package static func folder(of path: String) -> String {
    var bytes = Array(path.utf8)
    while bytes.count > 1, bytes.last == slash { bytes.removeLast() }
    guard let last = bytes.lastIndex(of: slash) else { return "." }
    bytes.removeSubrange(last...)
    while bytes.last == slash { bytes.removeLast() }
    return bytes.isEmpty ? "/" : String(decoding: bytes, as: UTF8.self)
  }

  /// The last name of a path, which is empty for `/` alone. A slash at the end counts for nothing.
  package static func name(of path: String) -> String {
    path.utf8.split(separator: slash).last.map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// The path of a name in a folder. In the working folder, which is `.` or empty, it is the name alone.
  package static func join(_ folder: String, _ name: String) -> String {
    if folder.isEmpty || folder == "." { return name }
    return folder.utf8.last == slash ? folder + name : "\(folder)/\(name)"
  }

  /// The path from `/` on. `.` and `..` are taken out by their text alone: nobody looks for links. A relative
  /// path stays as it is where the working folder was removed.
  package static func absolute(_ path: String) -> String {
    guard let base = path.utf8.first == slash ? "/" : real(".") else { return path }
    return append([Array(path.utf8)], to: base)
  }

  /// The path from `/` on with links resolved; `nil` where it leads to nothing.
  package static func real(_ path: String) -> String? {
    guard let pointer = realpath(path, nil) else { return nil }
    defer { free(pointer) }
    return String(cString: pointer)
  }

  /// The path from `/` on with links resolved. Where it leads to nothing, links are resolved as far as
  /// something is there, and of the rest `.` and `..` are taken out by their text. A relative path stays as
  /// it is where the working folder was removed.
  ///
  /// - Returns: the path, and whether it leads to something.
  package static func resolve(_ path: String) -> (path: String, isWhole: Bool) {
    if let real = real(path) { return (real, true) }
    var head = Array(path.utf8)
    var tail: [[UInt8]] = []
    while let last = head.lastIndex(of: slash) {
      tail.append(Array(head[(last + 1)...]))
      head.removeSubrange(last...)
      if let real = real(head.isEmpty ? "/" : String(decoding: head, as: UTF8.self)) {
        return (append(tail.reversed(), to: real), false)
      }
    }
    guard let base = real(".") else { return (path, false) }
    return (append([head] + tail.reversed(), to: base), false)
  }

  /// Appends relative paths.
  private static func append(_ paths: [[UInt8]], to base: String) -> String {
    var names = base.utf8.split(separator: slash).map(Array.init)
    for name in paths.flatMap({ $0.split(separator: slash) }) where !name.elementsEqual(".".utf8) {
      if name.elementsEqual("..".utf8) { _ = names.popLast() } else { names.append(Array(name)) }
    }
    if names.isEmpty { return "/" }
    return names.reduce(into: "") { $0 += "/" + String(decoding: $1, as: UTF8.self) }
  }
}
