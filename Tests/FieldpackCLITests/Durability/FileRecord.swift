import Foundation

/// What a run did to files, in its order, as `FieldpackTestVFS` writes it down.
struct FileRecord {
  enum Action {
    case create(String)
    /// The bytes came at an offset, or behind all others.
    case write(String, offset: Int?, [UInt8])
    case cut(String, length: Int)
    case sync(String)
    case rename(String, String)
    case link(String, String)
    case remove(String)
    case syncFolder(String)
  }

  private(set) var actions: [Action] = []

  init(contentsOf url: URL) throws {
    let bytes = [UInt8](try Data(contentsOf: url))
    var offset = 0
    func number(_ count: Int) -> Int {
      defer { offset += count }
      return bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    while offset < bytes.count {
      let (kind, value) = (number(1), number(8))
      let (length, count) = (number(4), number(4))
      let path = String(decoding: bytes[offset..<offset + length], as: UTF8.self)
      let data = Array(bytes[offset + length..<offset + length + count])
      offset += length + count
      let text = String(decoding: data, as: UTF8.self)
      let action: Action? =
        switch kind {
        case 1: .create(path)
        case 2: .write(path, offset: value, data)
        case 3: .cut(path, length: value)
        case 4: .sync(path)
        case 5: .rename(path, text)
        case 6: .link(path, text)
        case 7: .remove(path)
        case 8: .syncFolder(path)
        case 9: .write(path, offset: nil, data)
        default: nil
        }
      guard let action else { throw BadRecord(kind: kind) }
      actions.append(action)
    }
  }

  struct BadRecord: Error { var kind: Int }
}
