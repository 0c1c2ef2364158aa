import FieldpackCore

/// Compares a column of dates or instants with a moment, as moments to the millisecond.
///
/// The years 0 to 9999 are moments; what lies beyond compares with nothing.
struct MomentComparison {
  private let sql: String
  private let isDay: Bool
  private let type: UInt32

  /// - Parameter isText: whether the column is a timestamp without a zone, which reads as text.
  init(_ column: PostGISColumn, isText: Bool = false) {
    sql = column.quoted
    isDay = column.kind == .date
    type = isText ? PostgresType.timestamp : isDay ? PostgresType.date : PostgresType.timestamptz
  }

  /// The length of what the column counts, in milliseconds.
  private var unit: Int64 { isDay ? 86_400_000 : 1 }

  // -62167219200 and 253402300799.999 seconds since 1970.
  private var first: Int64 { PostgresTime.firstMoment / unit }
  private var last: Int64 {
    isDay ? PostgresTime.lastMoment / unit : PostgresTime.lastMoment
  }

  func lowered(_ comparison: Comparison, _ moment: Int64) -> Lowered {
    let (quotient, rest) = moment.quotientAndRemainder(dividingBy: unit)
    let floor = rest < 0 ? quotient - 1 : quotient
    let isWhole = rest == 0
    let place = min(max(floor, first - 1), last + 1)
    switch comparison {
    case .equal:
      guard isWhole, place == floor, (first...last).contains(floor) else { return .never }
      return from(floor, below: floor + 1)
    case .notEqual:
      guard isWhole, (first...last).contains(floor) else { return from(first, below: last + 1) }
      return .any([from(first, below: floor), from(floor + 1, below: last + 1)])
    case .less: return from(first, below: isWhole ? place : place + 1)
    case .lessOrEqual: return from(first, below: place + 1)
    case .greater: return from(place + 1, below: last + 1)
    case .greaterOrEqual: return from(isWhole ? place : place + 1, below: last + 1)
    }
  }

  private func from(_ low: Int64, below high: Int64) -> Lowered {
    let start = max(low, first)
    let end = min(high, last + 1)
    guard start < end else { return .never }
    return Lowered("(\(sql) >= \(bind: value(start)) AND \(sql) < \(bind: value(end)))")
  }

  private func value(_ count: Int64) -> PostgresValue {
    if isDay { return PostgresTime.date(dayNumber: count) }
    return PostgresTime.instant(milliseconds: count, type: type)
  }
}

/// PostgreSQL's counting of time, from 2000 on (its `timestamp.h` and `date.h`).
package enum PostgresTime {
  /// 0000-01-01, in milliseconds since 1970.
  static let firstMoment: Int64 = -62_167_219_200_000
  /// The last millisecond of 9999.
  static let lastMoment: Int64 = 253_402_300_799_999

  package static func date(dayNumber: Int64) -> PostgresValue {
    let day = Int32(clamping: dayNumber - Int64(BinaryTime.epochDay))
    return .binary(withUnsafeBytes(of: day.bigEndian) { Array($0) }, type: PostgresType.date)
  }

  package static func instant(
    milliseconds: Int64, type: UInt32 = PostgresType.timestamptz
  ) -> PostgresValue {
    let count = (milliseconds - Int64(BinaryTime.epochDay) * 86_400_000) * 1_000
    return .binary(withUnsafeBytes(of: count.bigEndian) { Array($0) }, type: type)
  }
}
