import FieldpackCore

/// The room on the disk for what clients have not taken yet of their answers.
///
/// All answers share it, so that many slow clients do not fill the disk.
final class SpillRoom: Sendable {
  private struct Used {
    var bytes = 0
    /// What those callers have of it who are told apart.
    var shares: [String: Int] = [:]
  }

  private let limit: Int
  private let used = Locked(Used())

  /// - Parameter limit: in bytes.
  init(limit: Int = 4 << 30) { self.limit = limit }

  /// The room of one answer, which the end of the object gives back.
  final class Place: Sendable {
    private let room: SpillRoom
    private let caller: String?
    private let bytes: Locked<Int>

    fileprivate init(_ room: SpillRoom, _ bytes: Int, _ caller: String?) {
      (self.room, self.bytes, self.caller) = (room, Locked(bytes), caller)
    }

    deinit { empty() }

    /// Has room for so many bytes in all.
    ///
    /// - Throws: `.full` where others have it.
    func grow(to total: Int) throws(FieldpackError) {
      let isThere = bytes.withLock { bytes in
        guard total > bytes else { return true }
        guard room.take(total - bytes, for: caller) else { return false }
        bytes = total
        return true
      }
      guard isThere else {
        throw FieldpackError(.full, "too many clients take their answers slowly")
      }
    }

    /// Gives all of it back.
    func empty() {
      bytes.withLock { bytes in
        room.give(back: bytes, of: caller)
        bytes = 0
      }
    }
  }

  /// - Parameter caller: whose answer it is, where one caller may not have all of the room: the answers of
  ///   a caller have a quarter of it, unless it is one answer alone.
  /// - Returns: `nil` where there is no room for so many bytes.
  func place(for bytes: Int, of caller: String? = nil) -> Place? {
    take(bytes, for: caller) ? Place(self, bytes, caller) : nil
  }

  private func take(_ bytes: Int, for caller: String?) -> Bool {
    used.withLock { used in
      guard used.bytes + bytes <= limit else { return false }
      if let caller {
        let share = used.shares[caller] ?? 0
        guard share == 0 || share + bytes <= limit / 4 else { return false }
        used.shares[caller] = share + bytes
      }
      used.bytes += bytes
      return true
    }
  }

  private func give(back bytes: Int, of caller: String?) {
    used.withLock { used in
      used.bytes -= bytes
      guard let caller, let share = used.shares[caller] else { return }
      used.shares[caller] = share > bytes ? share - bytes : nil
    }
  }
}
