import Foundation

/// A folder on a disk that may lose power: what was synced is there, and of the rest any part.
///
/// Contents and names are lost each for themselves. Of the writes to a file since its last sync, each is
/// there, or not, or in some of its sectors; of the names in the folder since its last sync, each change is
/// there or not. That is more than journaling file systems lose, and what POSIX allows.
struct Disk {
  fileprivate final class File {
    var contents: [UInt8]
    var pending: [Change] = []
    init(_ contents: [UInt8]) { self.contents = contents }

    var size: Int {
      pending.reduce(contents.count) { size, change in
        switch change {
        case .write(let offset, let bytes): max(size, offset + bytes.count)
        case .cut(let length): length
        }
      }
    }
  }

  fileprivate enum Change {
    case write(offset: Int, [UInt8])
    case cut(Int)
  }

  fileprivate enum Naming {
    case name(String, File)
    case remove(String)
    case rename(String, String)
  }

  private let folder: String
  /// The names that a program sees.
  private var names: [String: File] = [:]
  /// The names that are on the disk, and what was done to them since.
  private var kept: [String: File] = [:]
  private var namings: [Naming] = []
  /// What the run said on its standard output so far.
  private(set) var output = ""

  /// - Parameters:
  ///   - folder: the only folder that is looked at.
  ///   - files: what is in it at first, all of it on the disk.
  init(folder: String, files: [String: [UInt8]]) {
    self.folder = folder
    for (name, bytes) in files { names[folder + "/" + name] = File(bytes) }
    kept = names
  }

  private func isHere(_ path: String) -> Bool {
    path.hasPrefix(folder + "/") && !path.dropFirst(folder.count + 1).contains("/")
  }

  mutating func take(_ action: FileRecord.Action) {
    switch action {
    case .write(let path, nil, let bytes) where path.hasSuffix("/stdout"):
      output += String(decoding: bytes, as: UTF8.self)
    case .create(let path) where isHere(path):
      let file = File([])
      names[path] = file
      namings.append(.name(path, file))
    case .write(let path, let offset, let bytes):
      guard let file = names[path] else { return }
      file.pending.append(.write(offset: offset ?? file.size, bytes))
    case .cut(let path, let length): names[path]?.pending.append(.cut(length))
    case .sync(let path):
      guard let file = names[path] else { return }
      for change in file.pending { change.apply(to: &file.contents) }
      file.pending = []
    case .rename(let path, let new) where isHere(path):
      names[new] = names.removeValue(forKey: path)
      namings.append(.rename(path, new))
    case .link(let path, let new) where isHere(path):
      guard let file = names[path] else { return }
      names[new] = file
      namings.append(.name(new, file))
    case .remove(let path) where isHere(path):
      names[path] = nil
      namings.append(.remove(path))
    case .syncFolder(let path) where path.trimmingSlash == folder:
      for naming in namings { naming.apply(to: &kept) }
      namings = []
    default: break
    }
  }

  /// What is there after a power cut now: the files' names and contents.
  func afterCut(_ random: inout some RandomNumberGenerator) -> [String: [UInt8]] {
    var names = kept
    for naming in namings where Bool.random(using: &random) { naming.apply(to: &names) }
    var contents: [ObjectIdentifier: [UInt8]] = [:]
    var files: [String: [UInt8]] = [:]
    for (path, file) in names.sorted(by: { $0.key < $1.key }) {
      let known = contents[ObjectIdentifier(file)]
      let bytes = known ?? Self.survivor(of: file, &random)
      contents[ObjectIdentifier(file)] = bytes
      files[String(path.dropFirst(folder.count + 1))] = bytes
    }
    return files
  }

  private static let sector = 512

  private static func survivor(
    of file: File, _ random: inout some RandomNumberGenerator
  ) -> [UInt8] {
    var contents = file.contents
    // All, none, or each by chance: with many writes chance alone never gives the first two.
    let share = [0, 1, Double.random(in: 0...1, using: &random)].randomElement(using: &random) ?? 0
    for change in file.pending where Double.random(in: 0..<1, using: &random) < share {
      guard case .write(let offset, let bytes) = change, Int.random(in: 0..<4, using: &random) == 0
      else {
        change.apply(to: &contents)
        continue
      }
      // Torn: some of its sectors.
      var start = offset
      while start < offset + bytes.count {
        let end = min((start / sector + 1) * sector, offset + bytes.count)
        if Bool.random(using: &random) {
          Change.write(offset: start, Array(bytes[start - offset..<end - offset]))
            .apply(to: &contents)
        }
        start = end
      }
    }
    return contents
  }
}

extension Disk.Change {
  fileprivate func apply(to contents: inout [UInt8]) {
    switch self {
    case .cut(let length):
      if length < contents.count {
        contents.removeLast(contents.count - length)
      } else {
        contents += [UInt8](repeating: 0, count: length - contents.count)
      }
    case .write(let offset, let bytes):
      if contents.count < offset + bytes.count {
        contents += [UInt8](repeating: 0, count: offset + bytes.count - contents.count)
      }
      contents.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
  }
}

extension Disk.Naming {
  fileprivate func apply(to names: inout [String: Disk.File]) {
    switch self {
    case .name(let path, let file): names[path] = file
    case .remove(let path): names[path] = nil
    case .rename(let path, let new):
      // Where the name that is changed was lost, nothing has the new one.
      if let file = names.removeValue(forKey: path) { names[new] = file }
    }
  }
}

extension String {
  fileprivate var trimmingSlash: Substring { hasSuffix("/") ? dropLast() : self[...] }
}
