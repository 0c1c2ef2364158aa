import FieldpackCore
import FieldpackTestVFS

extension FileSystem.Action {
  /// Adds the action to the record of the VFS, so that one file has the order of both.
  func record() {
    switch self {
    case .create(let path): add(FIELDPACK_RECORD_CREATE, path)
    case .append(let path, let bytes): add(FIELDPACK_RECORD_APPEND, path, 0, bytes)
    case .cut(let path, let length): add(FIELDPACK_RECORD_CUT, path, Int64(length))
    case .sync(let path): add(FIELDPACK_RECORD_SYNC, path)
    case .rename(let path, let new): add(FIELDPACK_RECORD_RENAME, path, 0, Array(new.utf8))
    case .link(let path, let new): add(FIELDPACK_RECORD_LINK, path, 0, Array(new.utf8))
    case .remove(let path): add(FIELDPACK_RECORD_REMOVE, path)
    case .syncFolder(let path): add(FIELDPACK_RECORD_SYNC_FOLDER, path)
    }
  }

  private func add(
    _ kind: fieldpack_record_kind, _ path: String, _ number: Int64 = 0, _ bytes: [UInt8] = []
  ) {
    fieldpack_record_add(Int32(kind.rawValue), path, number, bytes, bytes.count)
  }
}
