#if PostGIS
  /// Dates and instants as the texts that stores have.
  enum MomentText {
    /// The text of a date or instant; `nil` for another kind or length of bytes.
    static func text(
      _ rows: PostgresRows, _ row: Int, _ column: Int, _ kind: PostGISColumn.Kind
    ) -> [UInt8]? {
      guard let count = rows.integer(row, column) else { return nil }
      switch kind {
      case .date: return date(count)
      case .instant: return instant(count)
      default: return nil
      }
    }

    /// - Parameter count: days since 2000; the largest and least stand for infinity.
    static func date(_ count: Int64) -> [UInt8] {
      var bytes: [UInt8] = []
      BinaryTime.append(day: Int32(clamping: count), to: &bytes)
      return bytes
    }

    /// - Parameter count: microseconds since 2000; the largest and least stand for infinity.
    static func instant(_ count: Int64) -> [UInt8] {
      var bytes: [UInt8] = []
      BinaryTime(microseconds: count).append(isUTC: true, to: &bytes)
      return bytes
    }
  }
#endif
