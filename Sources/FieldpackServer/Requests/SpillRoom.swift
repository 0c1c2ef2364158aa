import FieldpackCore

/// The room on the disk for what clients have not taken yet of their answers.
///
/// All answers share it, so that many slow clients do not fill the disk.
final class SpillRoom: Sendable {
  private struct Used {
    var bytes = 0
    /// The bytes of each caller that has a name.
    var shares: [String: Int] = [:]
  }

  private let limit: Int
  private let used = Locked(Used())

  /// - Parameter limit: the bytes of all answers together.
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

    /// Takes room for `total` bytes, with the bytes that the place has already.
    ///
    /// - Throws: `.full` where there is not so much room left.
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

    /// Gives the whole room back.
    func empty() {
      bytes.withLock { bytes in
        room.give(back: bytes, of: caller)
        bytes = 0
      }
    }
  }

  /// Takes room for an answer.
  ///
  /// - Parameter caller: who gets the answer. All answers to one caller have at most a quarter of the room,
  ///   but a single answer may be longer. `nil` for an answer without that limit.
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
