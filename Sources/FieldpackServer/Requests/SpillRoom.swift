import FieldpackCore

/// The room on the disk for what clients have not taken yet of their answers.
///
/// All answers share it, so that many slow clients do not fill the disk.
final class SpillRoom: Sendable {
  private let limit: Int
  private let used = Locked(0)

  /// - Parameter limit: in bytes.
  init(limit: Int = 4 << 30) { self.limit = limit }

  /// The room of one answer, which the end of the object gives back.
  final class Place: Sendable {
    private let room: SpillRoom
    private let bytes: Locked<Int>

    fileprivate init(_ room: SpillRoom, _ bytes: Int) {
      (self.room, self.bytes) = (room, Locked(bytes))
    }

    deinit {
      let bytes = bytes.withLock { $0 }
      room.used.withLock { $0 -= bytes }
    }

    /// Has room for so many bytes in all.
    ///
    /// - Throws: `.full` where others have it.
    func grow(to total: Int) throws(FieldpackError) {
      let isThere = bytes.withLock { bytes in
        guard total > bytes else { return true }
        guard room.take(total - bytes) else { return false }
        bytes = total
        return true
      }
      guard isThere else {
        throw FieldpackError(.full, "too many clients take their answers slowly")
      }
    }
  }

  /// - Returns: `nil` where there is no room for so many bytes.
  func place(for bytes: Int) -> Place? { take(bytes) ? Place(self, bytes) : nil }

  private func take(_ bytes: Int) -> Bool {
    used.withLock { used in
      guard used + bytes <= limit else { return false }
      used += bytes
      return true
    }
  }
}
